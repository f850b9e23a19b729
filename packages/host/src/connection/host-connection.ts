import type { Socket } from 'node:net';
import type { Clock } from '@tartan/kube/clock';
import type { Client } from 'ssh2';
import type { HostAddress, HostConnection } from './connection.ts';
import { type CommandContext, runCommand } from './run-command.ts';

/** Lets a few in at a time, in order of arrival. */
export interface CommandLimiter {
  /** Calls `enter` when there is room, never before `take` has returned. The answer leaves the queue, or gives the room back. */
  acquire(enter: () => void): () => void;
}

export const createCommandLimiter = (limit: number): CommandLimiter => {
  let taken = 0;
  const waiting = new Set<() => void>();
  const admit = (): void => {
    for (const enter of waiting) {
      if (taken >= limit) return;
      waiting.delete(enter);
      taken++;
      enter();
    }
  };
  return {
    acquire: (enter) => {
      let state: 'waits' | 'inside' | 'left' = 'waits';
      const come = (): void => {
        state = 'inside';
        queueMicrotask(() => {
          if (state === 'inside') enter();
        });
      };
      waiting.add(come);
      admit();
      return () => {
        const before = state;
        state = 'left';
        waiting.delete(come);
        if (before !== 'inside') return;
        taken--;
        admit();
      };
    },
  };
};

/** OpenSSH opens ten sessions on a connection (MaxSessions). Two are left for commands that we gave up and the host did not. */
const maxConcurrentCommands = 8;

/** Milliseconds that a host has to take our goodbye. */
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
    limiter: createCommandLimiter(maxConcurrentCommands),
    running: new Set(),
  };
  let gone: string | undefined;
  const lose = (cause: string): void => {
    gone ??= cause;
    for (const lost of context.running) lost(gone);
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
