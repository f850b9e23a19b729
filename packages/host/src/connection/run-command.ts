import type { Socket } from 'node:net';
import type { Clock } from '@tartan/kube/clock';
import type { Client, ClientChannel } from 'ssh2';
import type { CommandOutcome, Output, RemoteCommand } from './connection.ts';
import { feedInput } from './feed-input.ts';
import { outputTail } from './output-tail.ts';
import type { Slots } from './slots.ts';
import { terminate } from './terminate.ts';

/** Bytes kept of standard output, and of standard error. */
const outputCap = 64 * 1024;

/** What the commands of one connection share. */
export interface Line {
  readonly client: Client;
  readonly socket: Socket;
  readonly clock: Clock;
  readonly slots: Slots;
  /** Commands that have not ended, by what to call when the connection goes. */
  readonly running: Set<(cause: string) => void>;
}

type Ending = CommandOutcome extends infer Each ? (Each extends Output ? Omit<Each, keyof Output> : never) : never;

/** How a command ended by its own account. */
const byExit = (code: number | null, signal: string | undefined): Ending => {
  if (code === 0) return { kind: 'done' };
  if (code !== null) return { kind: 'command failed', code };
  return { kind: 'command failed', ...(signal === undefined ? {} : { signal }) };
};

/**
 * Flow: wait for a slot, open a channel, request the command, feed its input, collect its output, take the exit status.
 * Guarantees: resolves exactly once and never rejects; at its deadline, on abort and on loss of the connection at once, whether the
 * host answers or not; the input is destroyed with it.
 * Caveats: a host that was told to end a command may go on with it.
 */
export const runCommand = (line: Line, command: RemoteCommand, signal?: AbortSignal): Promise<CommandOutcome> =>
  new Promise((resolve) => {
    const { client, socket, clock, slots, running } = line;
    const stdout = outputTail(outputCap);
    const stderr = outputTail(outputCap);
    let channel: ClientChannel | undefined;
    let exit: Ending | undefined;
    let asked = false;
    let ended = false;
    let stopInput = (): void => {};
    let leave = (): void => {};

    const end = (ending: Ending): void => {
      if (ended) return;
      ended = true;
      takeBack();
      signal?.removeEventListener('abort', abort);
      running.delete(lost);
      stopInput();
      // Once a channel was asked for, the host has a session less to give until it has closed it.
      if (!asked) leave();
      resolve({ ...ending, stdout: stdout.text(), stderr: stderr.text() });
    };
    const stop = (ending: Ending): void => {
      if (channel) terminate(channel);
      end(ending);
    };
    // An exit status that has arrived is the truth, whatever comes after it: a child in the background may hold the channel open.
    const lost = (cause: string): void => end(exit ?? { kind: 'connection lost', cause });
    const abort = (): void => stop({ kind: 'aborted' });
    const takeBack = clock.after(command.deadline, () => stop(exit ?? { kind: 'timed out', after: command.deadline }));

    const begin = (opened: ClientChannel): void => {
      channel = opened;
      opened.on('error', () => {});
      opened.stderr.on('error', () => {});
      opened.on('data', (bytes: Buffer) => stdout.add(bytes));
      opened.stderr.on('data', (bytes: Buffer) => stderr.add(bytes));
      opened.on('exit', (code: number | null, name?: string) => {
        exit = byExit(code, name?.replace(/^SIG/, ''));
      });
      opened.on('close', () => {
        leave();
        end(exit ?? { kind: 'connection lost', cause: 'the host closed the channel without an exit status' });
      });
      if (ended) return terminate(opened);
      if (command.stdin === undefined) {
        opened.end();
        return;
      }
      const failed = (error: unknown): void => stop({ kind: 'input failed', cause: messageOf(error) });
      try {
        stopInput = feedInput(command.stdin(), opened, socket, failed);
      } catch (error) {
        failed(error);
      }
    };

    const open = (): void => {
      asked = true;
      try {
        client.exec(command.command, (error, opened) => {
          if (error === undefined) return begin(opened);
          leave();
          // sshd has a limit of its own (MaxSessions), and may refuse for reasons that it does not tell.
          stderr.add(Buffer.from(`the host did not start the command: ${error.message}`));
          end({ kind: 'command failed' });
        });
      } catch (error) {
        leave();
        lost(messageOf(error));
      }
    };

    running.add(lost);
    if (signal?.aborted) return abort();
    signal?.addEventListener('abort', abort);
    leave = slots.take(open);
  });

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
