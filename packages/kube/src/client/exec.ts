import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { isRecord, listIn, parseJson, printable, textIn } from '../json.ts';
import { pods } from '../objects/builtin.ts';
import type { ObjectName } from '../objects/object.ts';
import type { Channel, Transport } from '../transport/transport.ts';
import { describeRequest, requestPath } from './request-path.ts';
import { openCallScope, type RestClient } from './rest-client.ts';

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
  return `${requestPath(what, pods, { ...pod, subresource: 'exec' })}?${query.toString()}`;
};

/** Everything of `stdin`, then the end of it. */
const sendStdin = async (channel: Channel, input: AsyncIterator<Uint8Array>): Promise<void> => {
  for (let chunk = await input.next(); chunk.done !== true; chunk = await input.next()) {
    for (const frame of inputFrames(chunk.value)) await channel.send(frame);
  }
  await channel.send(closeInput);
};

/** Hands on what the command prints, until its exit status. */
const readOutput = async (channel: Channel, { stdout, stderr }: ExecOptions): Promise<ExecOutcome> => {
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
  caller: RestClient,
  pod: ObjectName,
  options: ExecOptions,
): Promise<ExecOutcome> => {
  const what = describeRequest('open', pods, { ...pod, subresource: 'exec' });
  const { signal, deadlineMs = caller.deadlineMs } = options;
  const path = execPath(what, pod, options);
  const scope = openCallScope({ clock: caller.clock, deadlineMs, signal, what });
  const input = options.stdin?.[Symbol.asyncIterator]();
  let channel: Channel | undefined;
  try {
    scope.signal.throwIfAborted();
    channel = await transport.open({ path, protocols: ['v5.channel.k8s.io'], signal: scope.signal });
    scope.clearDeadline();
    const failed = new Promise<never>((_resolve, reject) => {
      if (channel && input) sendStdin(channel, input).catch((error: unknown) => isKubeError(error) || reject(error));
    });
    return await Promise.race([readOutput(channel, options), failed]);
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

/** v5.channel.k8s.io: the first byte of every message names its channel. */
const stdinChannel = 0;
const stdoutChannel = 1;
const stderrChannel = 2;
const statusChannel = 3;
/** Its one byte says which channel ends. */
const closeChannel = 255;

/** How a command came to its end. */
export type ExecOutcome =
  | { kind: 'exited'; code: number }
  /** There was a stream, but no command: no such executable, container gone, … */
  | { kind: 'notRun'; message: string }
  /** The stream broke. The command may have run to its end, or may still run. */
  | { kind: 'lost'; error: KubeError };

type ExecFrame =
  | { kind: 'stdout' | 'stderr'; bytes: Uint8Array }
  | { kind: 'outcome'; outcome: ExecOutcome }
  /** Ends of channels, and channels that a later version may add. */
  | { kind: 'other' };

/** Kubelets read this much at a time. */
const maxStdinFrameBytes = 32 * 1024;

const closeInput = Uint8Array.of(closeChannel, stdinChannel);

function* inputFrames(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += maxStdinFrameBytes) {
    const piece = bytes.subarray(start, start + maxStdinFrameBytes);
    const frame = new Uint8Array(piece.length + 1);
    frame[0] = stdinChannel;
    frame.set(piece, 1);
    yield frame;
  }
}

const exitCodeIn = (value: unknown): number | undefined => {
  const details: unknown = isRecord(value) ? value['details'] : undefined;
  const cause = listIn(details, 'causes').find((each) => textIn(each, 'reason') === 'ExitCode');
  const text = textIn(cause, 'message') ?? '';
  return /^-?\d{1,10}$/.test(text) ? Number(text) : undefined;
};

const outcomeOf = (text: string): ExecOutcome => {
  const value = parseJson(text);
  const word = textIn(value, 'status');
  if (word === 'Success') return { kind: 'exited', code: 0 };
  if (word !== 'Failure') {
    throw new KubeError('malformed', 'The exit status of the command is not what a kubelet promises');
  }
  const code = textIn(value, 'reason') === 'NonZeroExitCode' ? exitCodeIn(value) : undefined;
  if (code !== undefined) return { kind: 'exited', code };
  return { kind: 'notRun', message: printable(textIn(value, 'message') ?? 'no reason is given', 4096) };
};

const readFrame = (message: Uint8Array): ExecFrame => {
  const [channel = closeChannel] = message;
  const bytes = message.subarray(1);
  // Servers open a channel by an empty message.
  if (bytes.length === 0) return { kind: 'other' };
  switch (channel) {
    case stdoutChannel:
      return { kind: 'stdout', bytes };
    case stderrChannel:
      return { kind: 'stderr', bytes };
    case statusChannel:
      return { kind: 'outcome', outcome: outcomeOf(new TextDecoder().decode(bytes)) };
    default:
      return { kind: 'other' };
  }
};
