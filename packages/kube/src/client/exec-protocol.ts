import { isRecord, listIn, parseJson, printable, textIn } from '../errors/json.ts';
import { KubeError } from '../errors/kube-error.ts';

/** v5.channel.k8s.io: the first byte of every message names its channel. */
const stdin = 0;
const stdout = 1;
const stderr = 2;
const status = 3;
/** Its one byte says which channel ends. */
const close = 255;

/** How a command came to its end. */
export type ExecOutcome =
  | { kind: 'exited'; code: number }
  /** There was a stream, but no command: no such executable, container gone, … */
  | { kind: 'notRun'; message: string }
  /** The stream broke. The command may have run to its end, or may still run. */
  | { kind: 'lost'; error: KubeError };

export type Frame =
  | { kind: 'stdout' | 'stderr'; bytes: Uint8Array }
  | { kind: 'outcome'; outcome: ExecOutcome }
  /** Ends of channels, and channels that a later version may add. */
  | { kind: 'other' };

/** Kubelets read this much at a time. */
const largestInput = 32 * 1024;

export const closeInput = Uint8Array.of(close, stdin);

export function* inputFrames(bytes: Uint8Array): Generator<Uint8Array> {
  for (let start = 0; start < bytes.length; start += largestInput) {
    const piece = bytes.subarray(start, start + largestInput);
    const frame = new Uint8Array(piece.length + 1);
    frame[0] = stdin;
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

export const readFrame = (message: Uint8Array): Frame => {
  const [channel = close] = message;
  const bytes = message.subarray(1);
  // Servers open a channel by an empty message.
  if (bytes.length === 0) return { kind: 'other' };
  switch (channel) {
    case stdout:
      return { kind: 'stdout', bytes };
    case stderr:
      return { kind: 'stderr', bytes };
    case status:
      return { kind: 'outcome', outcome: outcomeOf(new TextDecoder().decode(bytes)) };
    default:
      return { kind: 'other' };
  }
};
