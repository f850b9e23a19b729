import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { pods } from '../objects/builtin.ts';
import type { ObjectName } from '../objects/object.ts';
import type { Channel, Transport } from '../transport/transport.ts';
import type { Caller } from './caller.ts';
import { closeInput, type ExecOutcome, inputFrames, readFrame } from './exec-protocol.ts';
import { describe, pathOf } from './path.ts';
import { openScope } from './scope.ts';

export type { ExecOutcome } from './exec-protocol.ts';

export interface ExecOptions {
  container?: string;
  command: readonly string[];
  /** Sent as fast as the command takes it; its end closes the command's standard input. */
  stdin?: AsyncIterable<Uint8Array>;
  /** Awaited: who is slow makes the command wait. */
  stdout?: (bytes: Uint8Array) => Promise<void> | void;
  stderr?: (bytes: Uint8Array) => Promise<void> | void;
  /** With a terminal there is no stderr of its own. */
  tty?: boolean;
  signal?: AbortSignal;
  /** For the beginning; how long the command may run is the signal's business. */
  deadlineMs?: number;
}

const execPath = (what: string, pod: ObjectName, options: ExecOptions): string => {
  const { command, container, stdin, stdout, stderr, tty } = options;
  const query = new URLSearchParams(command.map((word) => ['command', word]));
  if (container !== undefined) query.set('container', container);
  for (const [name, wanted] of Object.entries({ stdin, stdout, stderr, tty })) if (wanted) query.set(name, 'true');
  return `${pathOf(what, pods, { ...pod, subresource: 'exec' })}?${query.toString()}`;
};

/** Everything of `stdin`, then the end of it. */
const feed = async (channel: Channel, input: AsyncIterator<Uint8Array>): Promise<void> => {
  for (let chunk = await input.next(); chunk.done !== true; chunk = await input.next()) {
    for (const frame of inputFrames(chunk.value)) await channel.send(frame);
  }
  await channel.send(closeInput);
};

/** Hands on what the command prints, until its exit status. */
const follow = async (channel: Channel, { stdout, stderr }: ExecOptions): Promise<ExecOutcome> => {
  for await (const message of channel.messages) {
    const frame = readFrame(message);
    if (frame.kind === 'outcome') return frame.outcome;
    if (frame.kind === 'stdout') await stdout?.(frame.bytes);
    if (frame.kind === 'stderr') await stderr?.(frame.bytes);
  }
  const text = 'The stream ended without an exit status: the command may still be running';
  return { kind: 'lost', error: new KubeError('unreachable', text) };
};

/**
 * Flow: opens a WebSocket, feeds `stdin` beside the loop that reads output, and ends with the exit status.
 * Guarantees: rejects when the command was not started (whatever the server said to that) and when the signal fires; afterwards
 * every end is an outcome. A failing `stdin`, `stdout` or `stderr` of the caller ends the stream, and rejects.
 * Caveats: ending the stream does not end the command; that is between the kubelet and its runtime.
 */
export const execInPod = async (
  transport: Transport,
  caller: Caller,
  pod: ObjectName,
  options: ExecOptions,
): Promise<ExecOutcome> => {
  const what = describe('open', pods, { ...pod, subresource: 'exec' });
  const { signal, deadlineMs = caller.deadlineMs } = options;
  const path = execPath(what, pod, options);
  const scope = openScope({ clock: caller.clock, deadlineMs, signal, what });
  const input = options.stdin?.[Symbol.asyncIterator]();
  let channel: Channel | undefined;
  try {
    scope.signal.throwIfAborted();
    channel = await transport.open({ path, protocols: ['v5.channel.k8s.io'], signal: scope.signal });
    scope.liftDeadline();
    const failed = new Promise<never>((_resolve, reject) => {
      if (channel && input) feed(channel, input).catch((error: unknown) => isKubeError(error) || reject(error));
    });
    return await Promise.race([follow(channel, options), failed]);
  } catch (error) {
    if (scope.signal.aborted || channel === undefined) throw error;
    if (isKubeError(error, 'unreachable')) return { kind: 'lost', error };
    if (isKubeError(error)) throw error;
    throw new KubeError('aborted', `Cannot ${what}: the caller's stdin, stdout or stderr failed`, { cause: error });
  } finally {
    channel?.close();
    scope.close();
    input?.return?.().catch(() => {});
  }
};
