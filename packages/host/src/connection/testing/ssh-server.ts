import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import ssh2, { type Connection, type ServerChannel, type Session } from 'ssh2';
import { fleetKey } from '../../testing/connect-to-mac.ts';
import { fingerprint } from '../connect.ts';
import type { HostAddress } from '../connection.ts';

const fingerprintOf = (publicKey: string): string => fingerprint(Buffer.from(publicKey.split(' ')[1] ?? '', 'base64'));

/** Handles a command that a client runs on the server. */
export type CommandHandler = (channel: ServerChannel, session: Session, command: string) => void;

/** An SSH server that a test scripts. */
export interface TestServer {
  readonly address: HostAddress;
  readonly hostKey: string;
  /** The key that may log in. */
  readonly privateKey: string;
  /** Counts of connections, and of those that reached the login. */
  readonly seen: { connections: number; logins: number };
  /** Signals that clients sent. Read from the debug log of `ssh2`: unlike OpenSSH, its sessions get no signal after the end of input. */
  readonly signals: string[];
  onCommand: CommandHandler;
  /** `silent`: accepts connections and sends nothing. `hangs up`: closes them at once. */
  greeting: 'normal' | 'silent' | 'hangs up';
  /** `silent`: a login is never answered. */
  login: 'by key' | 'refused' | 'silent';
  /** Sessions allowed per connection. */
  maxSessions: number;
  /** Resolves with the next connection. */
  connected(): Promise<Socket>;
  /** Cuts all connections. */
  cut(): void;
  /** Stops reading and writing without closing connections. */
  freeze(): void;
  stop(): Promise<void>;
}

/** Answers every command with success. */
const succeed: CommandHandler = (channel) => {
  channel.exit(0);
  channel.end();
};

export const startServer = async (options: { host?: string; play?: CommandHandler } = {}): Promise<TestServer> => {
  const { host = '127.0.0.1', play: onCommand = succeed } = options;
  const hostPair = fleetKey();
  const userPair = fleetKey();
  const sockets = new Set<Socket>();
  const listener = createServer({ noDelay: true });

  const serve = (client: Connection): void => {
    let sessions = 0;
    client.on('error', () => {});
    client.on('authentication', (context) => {
      test.seen.logins++;
      if (test.login === 'silent') return;
      const parsed = ssh2.utils.parseKey(userPair.publicKey);
      const known =
        !(parsed instanceof Error) && context.method === 'publickey' && parsed.getPublicSSH().equals(context.key.data);
      if (known && test.login === 'by key') context.accept();
      else context.reject(['publickey']);
    });
    client.on('session', (accept, reject) => {
      if (sessions >= test.maxSessions) return reject();
      sessions++;
      const session = accept();
      session.on('close', () => sessions--);
      session.on('exec', (take, _refuse, { command }) => {
        const channel = take();
        channel.on('error', () => {});
        test.onCommand(channel, session, command);
      });
    });
  };
  const debug = (line: string): void => {
    const signal = /CHANNEL_REQUEST \(r:\d+, signal: (\w+)\)/.exec(line)?.[1];
    if (signal !== undefined) test.signals.push(signal);
  };
  const server = new ssh2.Server({ hostKeys: [hostPair.privateKey], debug }, serve);
  server.on('error', () => {});
  listener.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
    test.seen.connections++;
    if (test.greeting === 'hangs up') socket.destroy();
    if (test.greeting === 'normal') server.injectSocket(socket);
  });
  listener.listen(0, host);
  await once(listener, 'listening');
  const bound = listener.address();
  const port = typeof bound === 'object' && bound ? bound.port : 0;

  const test: TestServer = {
    address: { host, port, transport: 'public' },
    hostKey: fingerprintOf(hostPair.publicKey),
    privateKey: userPair.privateKey,
    seen: { connections: 0, logins: 0 },
    signals: [],
    onCommand,
    greeting: 'normal',
    login: 'by key',
    maxSessions: 10,
    connected: () => new Promise((resolve) => listener.once('connection', resolve)),
    cut: () => {
      for (const socket of sockets) socket.destroy();
    },
    freeze: () => {
      for (const socket of sockets) socket.removeAllListeners('data').pause();
    },
    stop: async () => {
      listener.close();
      test.cut();
      if (listener.listening || sockets.size > 0) await once(listener, 'close');
    },
  };
  return test;
};
