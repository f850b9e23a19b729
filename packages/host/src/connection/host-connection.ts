import type { Socket } from 'node:net';
import { createSemaphore } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Client } from 'ssh2';
import type { HostAddress, HostConnection } from './connection.ts';
import { type CommandContext, runCommand } from './run-command.ts';

/** OpenSSH allows ten sessions per connection (MaxSessions). Two are left for commands that ended here but still run on the host. */
const maxConcurrentCommands = 8;

/** How long a host may take to close the connection. */
const closeTimeoutMs = 1_000;

interface Established {
  readonly client: Client;
  readonly socket: Socket;
  readonly clock: Clock;
  readonly hostKey: string;
  readonly address: HostAddress;
}

/** A connection on which commands can run. It ends on `close`, when the host ends it, or when keepalives go unanswered. */
export const createHostConnection = ({ client, socket, clock, hostKey, address }: Established): HostConnection => {
  const context: CommandContext = {
    client,
    socket,
    clock,
    slots: createSemaphore(maxConcurrentCommands),
    running: new Set(),
  };
  let gone: string | undefined;
  const lose = (cause: string): void => {
    gone ??= cause;
    for (const lost of context.running) lost(gone);
  };
  // The connection is unusable after any error; the close that follows would not have the cause.
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
      return runCommand(context, command, signal);
    },
    close: async () => {
      lose('the connection was closed on our side');
      if (socket.closed) return;
      const closed = new Promise((resolve) => socket.once('close', resolve));
      client.end();
      const hangUp = clock.after(closeTimeoutMs, () => socket.destroy());
      await closed;
      hangUp();
    },
  };
};
