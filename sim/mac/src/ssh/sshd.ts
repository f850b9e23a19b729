import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import ssh2, { type Connection } from 'ssh2';
import type { Machine } from '../machine.ts';
import { replaceAtomically } from '../replace-file.ts';
import { type HangUp, serveSession } from './session.ts';

export interface HostKey {
  /** In OpenSSH format. */
  readonly privateKey: string;
  /** `SHA256:…`, like ssh-keygen -l. */
  readonly fingerprint: string;
}

const fingerprint = (publicKey: Buffer): string =>
  `SHA256:${createHash('sha256').update(publicKey).digest('base64').replace(/=+$/, '')}`;

/** ssh2 1.17 cannot parse one in 300 of the keys that it generates. */
const newKey = (): string => {
  for (;;) {
    const made = ssh2.utils.generateKeyPairSync('ed25519').private;
    if (!(ssh2.utils.parseKey(made) instanceof Error)) return made;
  }
};

/** The host key in `file`; created if missing. */
export const hostKeyIn = (file: string): HostKey => {
  if (!existsSync(file)) replaceAtomically(file, newKey(), 0o600);
  const privateKey = readFileSync(file, 'utf8');
  const parsed = ssh2.utils.parseKey(privateKey);
  if (parsed instanceof Error) throw new Error(`${file} holds no host key`, { cause: parsed });
  return { privateKey, fingerprint: fingerprint(parsed.getPublicSSH()) };
};

/** The files that sshd reads: the user's own, and the one that Scaleway writes at first boot. */
const keyFiles = ['.ssh/authorized_keys', '.ssh/scw_authorized_keys'];

const linesOf = (file: string): string[] => {
  try {
    return readFileSync(file, 'utf8').split('\n');
  } catch {
    return [];
  }
};

/** Whether a signature was made with an authorized key. Without a signature: whether the key is authorized. */
const isAuthorized = (
  home: string,
  key: { readonly algo: string; readonly data: Buffer },
  signed?: { readonly blob: Buffer; readonly signature: Buffer; readonly hashAlgo: string | undefined },
): boolean =>
  keyFiles
    .flatMap((file) => linesOf(join(home, file)))
    .filter((line) => line.trim() !== '' && !line.startsWith('#'))
    .some((line) => {
      const parsed = ssh2.utils.parseKey(line);
      if (parsed instanceof Error || !parsed.getPublicSSH().equals(key.data)) return false;
      if (signed === undefined) return true;
      // Contrary to its type it may be an Error, which is truthy.
      const verified: unknown = parsed.verify(signed.blob, signed.signature, signed.hashAlgo);
      return verified === true;
    });

// Below the ephemeral ports of Linux and macOS: no other process must take the port of a Mac while it is down.
const firstPort = 20_000;
const portCount = 12_000;

const tryPort = (server: Server, port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const failed = (error: NodeJS.ErrnoException): void => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    };
    server.once('error', failed);
    server.listen(port, '127.0.0.1', () => {
      server.off('error', failed);
      resolve(true);
    });
  });

const usedPorts = new Set<number>();

/** Listens on this loopback port, or for 0 on one that no other Mac of this process has had. Returns the port. */
const listenOn = async (server: Server, wanted: number): Promise<number> => {
  if (wanted !== 0) {
    if (await tryPort(server, wanted)) return wanted;
    throw new Error(`port ${wanted} is taken by somebody else: choose another for this Mac`);
  }
  for (;;) {
    const port = firstPort + Math.floor(Math.random() * portCount);
    if (usedPorts.has(port)) continue;
    usedPorts.add(port);
    if (await tryPort(server, port)) return port;
  }
};

/** Defaults of OpenSSH's sshd_config. */
const maxAuthTries = 6;
const maxSessions = 10;

interface Sshd {
  /** Listens, unless the fault `refuse` is set. Keeps the port between calls. */
  start(privateKey: string): Promise<void>;
  /** Stops listening and cuts every connection. */
  stop(): Promise<void>;
  port(): number;
  /** The fault `ssh` has changed: `refuse` stops listening and keeps connections, anything else listens. */
  faultChanged(): void;
}

interface SshdOptions {
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
      // Clients send a first `none` to list the methods; it does not count.
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
