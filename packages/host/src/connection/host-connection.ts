import type { Socket } from 'node:net';
import type { Clock } from '@tartan/kube/clock';
import type { Client } from 'ssh2';
import type { HostAddress, HostConnection } from './connection.ts';
import { type Line, runCommand } from './run-command.ts';
import { slots } from './slots.ts';

/** OpenSSH opens ten sessions on a connection (MaxSessions). Two are left for commands that we gave up and the host did not. */
const commandsAtOnce = 8;

/** Milliseconds that a host has to take our goodbye. */
const goodbye = 1_000;

export interface Established {
  readonly client: Client;
  readonly socket: Socket;
  readonly clock: Clock;
  readonly hostKey: string;
  readonly address: HostAddress;
}

/** A connection on which commands can run. It ends on `close`, when the host ends it, or when keepalives go unanswered. */
export const hostConnection = ({ client, socket, clock, hostKey, address }: Established): HostConnection => {
  const line: Line = { client, socket, clock, slots: slots(commandsAtOnce), running: new Set() };
  let gone: string | undefined;
  const lose = (cause: string): void => {
    gone ??= cause;
    for (const lost of line.running) lost(gone);
  };
  // Whatever it is, nothing more can be believed of this connection; the close that follows would not say why.
  client.on('error', (error) => {
    lose(error.message);
    socket.destroy();
  });
  client.once('close', () => lose('the host closed the connection'));

  return {
    hostKey,
    address,
    run: (command, signal) => {
      if (gone !== undefined) return Promise.resolve({ kind: 'connection lost', cause: gone, stdout: '', stderr: '' });
      return runCommand(line, command, signal);
    },
    close: async () => {
      lose('the connection was closed on our side');
      if (socket.closed) return;
      const closed = new Promise((resolve) => socket.once('close', resolve));
      client.end();
      const hangUp = clock.after(goodbye, () => socket.destroy());
      await closed;
      hangUp();
    },
  };
};
