import type { Socket } from 'node:net';
import { type createSemaphore, errorMessage } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { Client, ClientChannel } from 'ssh2';
import { sendInput } from './command-input.ts';
import type { CommandEnd, CommandOutcome, RemoteCommand } from './connection.ts';

/** Keeps the end of a command's output, which has the reason for a failure. */
export const createOutputTail = (cap: number) => {
  // A copy, because a slice would keep the whole packet in memory.
  let kept = Buffer.alloc(0);
  let cut = false;
  return {
    add: (bytes: Buffer): void => {
      kept = Buffer.concat([kept, bytes]);
      if (kept.length <= cap) return;
      kept = kept.subarray(kept.length - cap);
      cut = true;
    },
    // Drops the rest of a character that was cut in two: at most three bytes.
    text: (): string => (cut ? kept.toString().replace(/^\uFFFD{1,3}/, '') : kept.toString()),
  };
};

/** Private in the types of `ssh2` 1.17. */
declare module 'ssh2' {
  interface Channel {
    readonly _client: { readonly _protocol: { signal(id: number, name: string): void } };
  }
}

/** The host's number for a channel that is open on this side. */
const openChannelID = ({ outgoing }: ClientChannel): number | undefined => {
  if (typeof outgoing !== 'object' || outgoing === null || !('id' in outgoing) || !('state' in outgoing))
    return undefined;
  const open = outgoing.state === 'open' || outgoing.state === 'eof';
  return open && typeof outgoing.id === 'number' ? outgoing.id : undefined;
};

/**
 * Asks the host to end a command, and closes its channel. sshd sends the signal to all processes of the command. The public `signal` of
 * `ssh2` sends nothing after the end of the input, though the command may still run.
 */
const terminate = (channel: ClientChannel): void => {
  const id = openChannelID(channel);
  if (id !== undefined) channel._client._protocol.signal(id, 'TERM');
  channel.close();
};

/** Bytes kept of standard output, and of standard error. */
const maxOutputBytes = 64 * 1024;

/** What the commands of one connection share. */
export interface CommandContext {
  readonly client: Client;
  readonly socket: Socket;
  readonly clock: Clock;
  readonly slots: ReturnType<typeof createSemaphore>;
  /** A callback per running command, called when the connection is lost. */
  readonly running: Set<(cause: string) => void>;
}

/** The outcome of a command that exited. */
const endingOfExit = (code: number | null, signal: string | undefined): CommandEnd => {
  if (code === 0) return { kind: 'done' };
  if (code !== null) return { kind: 'command failed', code };
  return { kind: 'command failed', ...(signal === undefined ? {} : { signal }) };
};

/**
 * Flow: wait for a slot, open a channel, request the command, feed its input, collect its output, take the exit status.
 * Guarantees: resolves exactly once and never rejects; at its deadline, on abort and on loss of the connection at once, whether the
 * host answers or not; the input is destroyed with it.
 * Caveats: a command may continue on the host after it was terminated.
 */
export const runCommand = (
  context: CommandContext,
  command: RemoteCommand,
  signal?: AbortSignal,
): Promise<CommandOutcome> =>
  new Promise((resolve) => {
    const { client, socket, clock, slots, running } = context;
    const stdout = createOutputTail(maxOutputBytes);
    const stderr = createOutputTail(maxOutputBytes);
    let channel: ClientChannel | undefined;
    let exit: CommandEnd | undefined;
    let ended = false;
    let stopInput = (): void => {};
    let releaseSlot = (): void => {};

    const end = (ending: CommandEnd): void => {
      if (ended) return;
      ended = true;
      cancelDeadline();
      signal?.removeEventListener('abort', abort);
      running.delete(lost);
      stopInput();
      resolve({ ...ending, stdout: stdout.text(), stderr: stderr.text() });
    };
    const stop = (ending: CommandEnd): void => {
      if (channel) terminate(channel);
      end(ending);
    };
    // An exit status that has arrived wins: a background child may keep the channel open.
    const lost = (cause: string): void => end(exit ?? { kind: 'connection lost', cause });
    const abort = (): void => stop({ kind: 'aborted' });
    const cancelDeadline = clock.after(command.deadline, () =>
      stop(exit ?? { kind: 'timed out', after: command.deadline }),
    );

    const begin = (opened: ClientChannel): void => {
      channel = opened;
      opened.on('error', () => {});
      opened.stderr.on('error', () => {});
      opened.on('data', (bytes: Buffer) => stdout.add(bytes));
      opened.stderr.on('data', (bytes: Buffer) => stderr.add(bytes));
      opened.on('exit', (code: number | null, name?: string) => {
        exit = endingOfExit(code, name?.replace(/^SIG/, ''));
      });
      opened.on('close', () => {
        releaseSlot();
        end(exit ?? { kind: 'connection lost', cause: 'the host closed the channel without an exit status' });
      });
      if (ended) return terminate(opened);
      if (command.stdin === undefined) {
        opened.end();
        return;
      }
      const failed = (error: unknown): void => stop({ kind: 'input failed', cause: errorMessage(error) });
      try {
        stopInput = sendInput(command.stdin(), opened, socket, failed);
      } catch (error) {
        failed(error);
      }
    };

    const open = (): void => {
      try {
        client.exec(command.command, (error, opened) => {
          if (error === undefined) return begin(opened);
          releaseSlot();
          // sshd has its own limit (MaxSessions), and may refuse without a reason.
          stderr.add(Buffer.from(`the host did not start the command: ${error.message}`));
          end({ kind: 'command failed' });
        });
      } catch (error) {
        releaseSlot();
        lost(errorMessage(error));
      }
    };

    running.add(lost);
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    // Held until the host has closed the channel: until then the session counts against MaxSessions.
    void slots(async () => {
      if (ended) return;
      await new Promise<void>((release) => {
        releaseSlot = release;
        open();
      });
    });
  });
