import { open } from 'node:fs/promises';
import { stripVTControlCharacters } from 'node:util';
import { classify } from './classify.ts';
import { createRedact } from './redact.ts';
import type { VmExit } from './run.ts';
import type { TartReason } from './tart-error.ts';

/** Why a virtual machine is not on any more. The exit code alone would call a crash and a power cut a success: both are 0 (G9). */
export type RunEnding =
  /** The guest shut itself down. */
  | { readonly kind: 'halted' }
  /** Somebody cut its power: `tart stop`, or Ctrl-C. */
  | { readonly kind: 'stopped' }
  /** The framework gave up on it, it lost its network, or tart failed to stop it. */
  | { readonly kind: 'crashed'; readonly message: string }
  /** It never began: tart ended with an error, and nothing that it wrote speaks of a guest that was on. */
  | { readonly kind: 'failed'; readonly reason: TartReason; readonly message: string }
  | { readonly kind: 'killed'; readonly signal: string }
  /** Nothing is known: it wrote nothing, and nobody saw it end, or it ended with 0. */
  | { readonly kind: 'unknown' };

const lastLines = 20;
/** What tart prints of a guest that was on: openai/tart VM.swift:281, 464, 469, 474. All of them may come with exit code 0. */
const crash =
  /guest has stopped the virtual machine due to error:|network attachment .*has been disconnected with error:/;
const ending = new RegExp(`${crash.source}|guest has stopped the virtual machine|^Stopping VM\\.\\.\\.$`);
const redact = createRedact([]);

/** The last complaint that is known counts: a log may hold an earlier start as well. */
const reasonIn = (lines: readonly string[], code: number | undefined): TartReason => {
  const known = lines.findLast((line) => classify('run', undefined, line) !== 'other');
  return classify('run', code, known ?? '');
};

/** The end of what it wrote decides, then how the process ended. Secrets are taken out of messages. */
export const runEnding = ({ code, signal }: Pick<VmExit, 'code' | 'signal'>, log: string): RunEnding => {
  const lines = stripVTControlCharacters(log)
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .slice(-lastLines);
  const message = redact(lines.join('\n'));
  if (signal !== undefined) return { kind: 'killed', signal };
  const last = lines.findLast((line) => ending.test(line));
  if (code !== undefined && code !== 0)
    return last === undefined
      ? { kind: 'failed', reason: reasonIn(lines, code), message }
      : { kind: 'crashed', message };
  if (last !== undefined && crash.test(last)) return { kind: 'crashed', message: redact(last) };
  if (last !== undefined) return { kind: last.startsWith('Stopping') ? 'stopped' : 'halted' };
  // Nobody saw it end: what it complained of is all there is.
  const reason = code === undefined ? reasonIn(lines, code) : 'other';
  return reason === 'other' ? { kind: 'unknown' } : { kind: 'failed', reason, message };
};

/** The last `bytes` of a file of ours; empty when there is none. */
export const readLogTail = async (file: string, bytes = 8192): Promise<string> => {
  const handle = await open(file, 'r').catch(() => undefined);
  if (handle === undefined) return '';
  try {
    const { size } = await handle.stat();
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(Math.min(bytes, size)), {
      position: Math.max(0, size - bytes),
    });
    return buffer.toString('utf8', 0, bytesRead);
  } finally {
    await handle.close();
  }
};
