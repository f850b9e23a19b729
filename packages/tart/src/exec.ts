import { Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Caller } from './call.ts';
import { classify } from './classify.ts';
import { endGroup } from './process-group.ts';
import type { Redact } from './redact.ts';
import { TartError, type TartReason } from './tart-error.ts';
import { inTerminal, resizing, type TerminalSize } from './terminal.ts';

export interface ExecOptions {
  /** Whether the command reads what is written to `stdin`. */
  readonly stdin?: boolean;
  /** In a terminal: stdout and stderr are one then. */
  readonly tty?: TerminalSize | undefined;
  /** Absent for a session that a person ends. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type ExecEnd =
  | { readonly kind: 'exited'; readonly code: number }
  /** It never ran, or its end is not known. */
  | { readonly kind: 'failed'; readonly error: TartError };

/** A command in a guest. Its output comes as fast as it is read, and waits otherwise: a guest that writes without end fills nothing. */
export interface ExecSession {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Settles when the terminal has that size. Does nothing without one, and never rejects. */
  resize(size: TerminalSize): Promise<void>;
  /** Never rejects. */
  readonly ended: Promise<ExecEnd>;
  kill(): void;
}

const graceMs = 2000;
const keptText = 4096;

/** Passes everything on, and keeps the first few kilobytes. */
const keepingStart = (): { readonly through: Transform; text(): string } => {
  let kept = Buffer.alloc(0);
  const through = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      if (kept.length < keptText) kept = Buffer.concat([kept, chunk.subarray(0, keptText - kept.length)]);
      done(null, chunk);
    },
  });
  return { through, text: () => kept.toString() };
};

/** What a stream says first; empty when it ends without a word. Its other end may stay open for as long as it likes. */
const firstLine = (stream: Readable): Promise<string> =>
  new Promise((resolve) => {
    let said = '';
    stream.setEncoding('utf8').on('data', (piece: string) => {
      said += piece;
      if (said.includes('\n')) resolve(said.trim());
    });
    stream.on('error', () => resolve('')).on('close', () => resolve(''));
  });

/** Errors of tart itself; any other code is the command's own. What they look like is said by nothing but their text (§7.3). */
const ofTart: readonly TartReason[] = ['missing', 'not running', 'guest agent unreachable'];
const oneLine = /^[^\n]*\n?$/;

const endOf = (code: number | null, signal: string | null, output: string, redact: Redact): ExecEnd => {
  const command = 'exec';
  const said = redact(output.replaceAll('\r', '')).trim();
  if (code === null) {
    const message = `tart exec was ended by ${signal ?? 'a signal'}`;
    return { kind: 'failed', error: new TartError('other', message, { command, signal: signal ?? undefined }) };
  }
  const reason = classify(command, code, said);
  if ((code === 1 || code === 2) && oneLine.test(said) && ofTart.includes(reason))
    return {
      kind: 'failed',
      error: new TartError(reason, `tart exec failed: ${said}`, { command, exitCode: code, tail: said }),
    };
  return { kind: 'exited', code };
};

export const execInVm = (
  caller: Caller,
  platform: NodeJS.Platform,
  name: string,
  command: readonly string[],
  { stdin = false, tty, deadlineMs, signal }: ExecOptions,
  redact: Redact,
): ExecSession => {
  const { clock } = caller;
  const words = [caller.path, 'exec', ...(stdin ? ['-i'] : []), ...(tty === undefined ? [] : ['-t']), name, ...command];
  const [file = caller.path, ...args] = tty === undefined ? words : inTerminal(platform, words, tty);
  const child = caller.spawn(file, args, {
    detached: true,
    env: { ...caller.environment },
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(tty === undefined ? [] : ['pipe' as const])],
  });
  const tells = child.stdio[3];
  const terminal = tells instanceof Readable ? firstLine(tells) : Promise.resolve('');

  // In a terminal tart's own complaints arrive on stdout.
  const out = keepingStart();
  const complaints = keepingStart();
  // A reader that goes away ends the pipe, not us.
  const flow = (from: Readable | null, to: Transform): Promise<void> =>
    from === null ? Promise.resolve() : pipeline(from, to).catch(() => {});
  void flow(child.stdout, out.through);
  const complained = flow(child.stderr, complaints.through);
  // The command may end before it has read all: that is its right.
  child.stdin?.on('error', () => {});

  let cutShort: TartError | undefined;
  let takeBack = (): void => {};
  const cut = (error: TartError): void => {
    if (cutShort !== undefined) return;
    cutShort = error;
    takeBack = endGroup(child, clock, graceMs);
  };
  const aborted = (): void => cut(new TartError('aborted', 'tart exec was ended by its caller', { command: 'exec' }));
  const takeBackDeadline =
    deadlineMs === undefined
      ? () => {}
      : clock.after(deadlineMs, () =>
          cut(
            new TartError('timed out', `tart exec did not end within ${deadlineMs} ms; it was killed`, {
              command: 'exec',
            }),
          ),
        );
  if (signal?.aborted === true) aborted();
  signal?.addEventListener('abort', aborted, { once: true });

  const ended = new Promise<ExecEnd>((resolve) => {
    const finish = (end: ExecEnd): void => {
      takeBack();
      takeBackDeadline();
      signal?.removeEventListener('abort', aborted);
      resolve(end);
    };
    child.on('error', (cause) => {
      out.through.end();
      complaints.through.end();
      finish({
        kind: 'failed',
        error: new TartError('not installed', `tart could not be started at ${caller.path}`, {
          command: 'exec',
          cause,
        }),
      });
    });
    child.on('exit', (code, endedBy) => {
      const end = (): void =>
        finish(
          cutShort !== undefined && code !== 0
            ? { kind: 'failed', error: cutShort }
            : endOf(code, endedBy, tty === undefined ? complaints.text() : out.text(), redact),
        );
      // All it complained of, unless somebody holds the pipe.
      const takeBackGrace = clock.after(graceMs, end);
      void complained.then(() => {
        takeBackGrace();
        end();
      });
    });
  });

  return {
    stdin: child.stdin ?? undefined,
    stdout: out.through,
    stderr: complaints.through,
    resize: async (size) => {
      const path = await terminal;
      if (!path.startsWith('/dev/') || size.rows <= 0 || size.columns <= 0) return;
      const [shell, ...rest] = resizing(path, size);
      const stty = caller.spawn(shell, rest, { env: { ...caller.environment }, stdio: 'ignore' });
      await new Promise<void>((resolve) => {
        stty.on('error', () => resolve());
        stty.on('exit', () => resolve());
      });
    },
    ended,
    kill: aborted,
  };
};
