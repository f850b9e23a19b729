import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createServer, type Server, type Socket } from 'node:net';
import ssh2, { type Connection } from 'ssh2';
import type { Machine } from '../machine.ts';
import { isAuthorized } from './authorized-keys.ts';
import { listenOn } from './port.ts';
import { type HangUp, serveSession } from './session.ts';

/** Of OpenSSH's sshd_config, as stock. */
const maxAuthTries = 6;
const maxSessions = 10;

export interface Sshd {
  /** Listens, unless the faults say that nobody does. The port is kept from one call to the next. */
  start(privateKey: string): Promise<void>;
  /** Nobody listens, and every connection is gone. */
  stop(): Promise<void>;
  port(): number;
  /** The fault `ssh` was changed: `refuse` stops listening and keeps connections, anything else listens. */
  faultChanged(): void;
}

export interface SshdOptions {
  readonly machine: Machine;
  readonly home: string;
  readonly port: number;
  start(command: string, connection: { readonly remotePort: number }): ChildProcessWithoutNullStreams;
}

/** sshd on loopback: public keys only, exec only. */
export const createSshd = ({ machine, home, port: wantedPort, start }: SshdOptions): Sshd => {
  let port = wantedPort;
  let listener: Server | undefined;
  let ssh: ssh2.Server | undefined;
  const sockets = new Set<Socket>();

  const serve = (client: Connection, remotePort: number, cut: () => void): void => {
    let refused = 0;
    const sessions = new Set<HangUp>();
    client.on('error', () => {});
    client.on('authentication', (context) => {
      if (context.method === 'publickey' && context.username === machine.user.name) {
        const { key, blob, signature, hashAlgo } = context;
        const signed = blob && signature ? { blob, signature, hashAlgo } : undefined;
        if (isAuthorized(home, key, signed)) return context.accept();
      }
      // A first `none` is how clients ask what is possible; it counts for nothing.
      if (context.method !== 'none') refused += 1;
      if (refused >= maxAuthTries) return void client.end();
      context.reject(['publickey']);
    });
    client.on('ready', () => machine.journal.record('ssh.login', machine.user.name));
    client.on('session', (accept, reject) => {
      if (sessions.size >= maxSessions) return reject();
      const session = accept();
      const hangUp = serveSession(session, { machine, start: (command) => start(command, { remotePort }), cut });
      sessions.add(hangUp);
      session.once('close', () => sessions.delete(hangUp));
    });
    client.once('close', () => {
      for (const hangUp of sessions) hangUp();
    });
  };

  const accept = (socket: Socket): void => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => {});
    if (machine.faults.ssh === 'hang before the banner') return void socket.resume();
    ssh?.injectSocket(socket);
  };

  const listen = async (): Promise<void> => {
    if (listener !== undefined || ssh === undefined || machine.faults.ssh === 'refuse') return;
    listener = createServer({ noDelay: true }, accept);
    port = await listenOn(listener, port);
  };

  const stopListening = (): Promise<void> => {
    const server = listener;
    listener = undefined;
    return new Promise((resolve) => (server === undefined ? resolve() : server.close(() => resolve())));
  };

  return {
    start: async (privateKey) => {
      ssh = new ssh2.Server({ hostKeys: [privateKey], ident: 'OpenSSH_10.0' }, (client, info) => {
        const socket = [...sockets].find(({ remotePort }) => remotePort === info.port);
        serve(client, info.port, () => socket?.destroy());
      });
      await listen();
    },
    stop: async () => {
      const notListening = stopListening();
      ssh = undefined;
      for (const socket of sockets) socket.destroy();
      await notListening;
    },
    port: () => port,
    faultChanged: () => {
      if (machine.faults.ssh === 'refuse') void stopListening();
      else void listen();
    },
  };
};
