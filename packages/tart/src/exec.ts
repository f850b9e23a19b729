import { Readable, Transform, type Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type CallDeps, createTerminator, graceMs } from './call.ts';
import { redact } from './redact.ts';
import { classifyError, TartError, type TartReason } from './tart-error.ts';

export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

const shellQuote = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * Sets the terminal's size and raw mode (the guest has its own terminal), then reports its device on descriptor 3. In this order: a
 * resize may follow immediately after the report, and must win.
 */
const ptyScript = 'stty rows "$1" columns "$2" raw -echo; tty >&3; exec 3>&-; shift 2; exec "$@"';

/**
 * A command line that runs `words` in a pseudo-terminal. `tart exec -t` needs a terminal to query its size, and Node cannot create
 * one; script(1) can, with different arguments on each system.
 */
const withPty = (
  words: readonly string[],
  { rows, columns }: TerminalSize,
): readonly [file: string, ...args: string[]] => {
  const command = ['/bin/sh', '-c', ptyScript, 'sh', String(rows), String(columns), ...words];
  return process.platform === 'darwin'
    ? ['/usr/bin/script', '-q', '/dev/null', ...command]
    : ['/usr/bin/script', '-q', '-e', '-c', command.map(shellQuote).join(' '), '/dev/null'];
};

/** Resizes a terminal; the kernel notifies its processes. */
const resizeScript = 'stty rows "$1" columns "$2" <"$3"';

export interface ExecOptions {
  /** Whether the command reads what is written to `stdin`. */
  readonly stdin?: boolean;
  /** In a terminal, stdout and stderr are one stream. */
  readonly tty?: TerminalSize | undefined;
  /** Absent for interactive sessions. */
  readonly deadlineMs?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type ExecResult =
  | { readonly kind: 'exited'; readonly code: number }
  /** It did not run, or its exit code is unknown. */
  | { readonly kind: 'failed'; readonly error: TartError };

/** A command in a guest. Its output has backpressure: endless output fills no memory. */
export interface ExecSession {
  readonly stdin: Writable | undefined;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Resolves when the terminal has that size. Does nothing without a terminal. Never rejects. */
  resize(size: TerminalSize): Promise<void>;
  /** Never rejects. */
  readonly result: Promise<ExecResult>;
  kill(): void;
}

const maxCaptured = 4096;

/** Passes everything through, and keeps the first few kilobytes. */
const captureHead = (): { readonly through: Transform; text(): string } => {
  let kept = Buffer.alloc(0);
  const through = new Transform({
    transform: (chunk: Buffer, _encoding, done) => {
      if (kept.length < maxCaptured) kept = Buffer.concat([kept, chunk.subarray(0, maxCaptured - kept.length)]);
      done(null, chunk);
    },
  });
  return { through, text: () => kept.toString() };
};

/** The first line of a stream; empty if it ends before. Does not wait for the stream's end. */
const firstLine = (stream: Readable): Promise<string> =>
  new Promise((resolve) => {
    let text = '';
    stream.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      if (text.includes('\n')) resolve(text.trim());
    });
    stream.on('error', () => resolve('')).on('close', () => resolve(''));
  });

/** Failures of tart itself; any other exit code is the command's. Only the error text distinguishes them. */
const tartFailures: readonly TartReason[] = ['missing', 'not running', 'guest agent unreachable'];
const oneLine = /^[^\n]*\n?$/;

const resultOf = (code: number | null, signal: string | null, output: string): ExecResult => {
  const command = 'exec';
  const text = redact(output.replaceAll('\r', '')).trim();
  if (code === null) {
    const message = `tart exec was ended by ${signal ?? 'a signal'}`;
    return { kind: 'failed', error: new TartError('other', message, { command }) };
  }
  const reason = classifyError(command, code, text);
  if ((code === 1 || code === 2) && oneLine.test(text) && tartFailures.includes(reason))
    return {
      kind: 'failed',
      error: new TartError(reason, `tart exec failed: ${text}`, { command, tail: text }),
    };
  return { kind: 'exited', code };
};

export const execInVm = (
  deps: CallDeps,
  name: string,
  command: readonly string[],
  { stdin = false, tty, deadlineMs, signal }: ExecOptions,
): ExecSession => {
  const { clock } = deps;
  const words = [deps.path, 'exec', ...(stdin ? ['-i'] : []), ...(tty === undefined ? [] : ['-t']), name, ...command];
  const [file = deps.path, ...args] = tty === undefined ? words : withPty(words, tty);
  const child = deps.spawn(file, args, {
    detached: true,
    env: { ...deps.environment },
    stdio: [stdin ? 'pipe' : 'ignore', 'pipe', 'pipe', ...(tty === undefined ? [] : ['pipe' as const])],
  });
  const ttyPipe = child.stdio[3];
  const terminal = ttyPipe instanceof Readable ? firstLine(ttyPipe) : Promise.resolve('');

  // In a terminal, tart's own errors arrive on stdout.
  const stdout = captureHead();
  const stderr = captureHead();
  // A reader that closes early must end only the pipe.
  const pipeInto = (from: Readable | null, to: Transform): Promise<void> =>
    from === null ? Promise.resolve() : pipeline(from, to).catch(() => {});
  void pipeInto(child.stdout, stdout.through);
  const stderrEnded = pipeInto(child.stderr, stderr.through);
  // The command may exit before it has read all input.
  child.stdin?.on('error', () => {});

  const terminator = createTerminator(child, clock, 'exec', signal);
  const cancelDeadline =
    deadlineMs === undefined
      ? () => {}
      : clock.after(deadlineMs, () =>
          terminator.terminate(
            new TartError('timed out', `tart exec did not end within ${deadlineMs} ms; it was killed`, {
              command: 'exec',
            }),
          ),
        );
  if (signal?.aborted === true) terminator.abort();

  const result = new Promise<ExecResult>((resolve) => {
    const finish = (end: ExecResult): void => {
      terminator.stop();
      cancelDeadline();
      resolve(end);
    };
    child.on('error', (cause) => {
      stdout.through.end();
      stderr.through.end();
      finish({
        kind: 'failed',
        error: new TartError('not installed', `tart could not be started at ${deps.path}`, {
          command: 'exec',
          cause,
        }),
      });
    });
    child.on('exit', (code, endedBy) => {
      const end = (): void => {
        const terminatedBy = terminator.cause();
        finish(
          terminatedBy !== undefined && code !== 0
            ? { kind: 'failed', error: terminatedBy }
            : resultOf(code, endedBy, tty === undefined ? stderr.text() : stdout.text()),
        );
      };
      // Waits for all of stderr, unless a child holds the pipe open.
      const cancelGrace = clock.after(graceMs, end);
      void stderrEnded.then(() => {
        cancelGrace();
        end();
      });
    });
  });

  return {
    stdin: child.stdin ?? undefined,
    stdout: stdout.through,
    stderr: stderr.through,
    resize: async ({ rows, columns }) => {
      const path = await terminal;
      if (!path.startsWith('/dev/') || rows <= 0 || columns <= 0) return;
      const words = ['-c', resizeScript, 'sh', String(rows), String(columns), path];
      const stty = deps.spawn('/bin/sh', words, { env: { ...deps.environment }, stdio: 'ignore' });
      await new Promise<void>((resolve) => {
        stty.on('error', () => resolve());
        stty.on('exit', () => resolve());
      });
    },
    result,
    kill: () => terminator.abort(),
  };
};

/**
 * Reads a session to its end, at most `maxBytes` of each stream: guests are untrusted. `truncated`: the guest wrote more, so the
 * session was killed.
 */
export const collectOutput = async (session: ExecSession, maxBytes: number) => {
  let truncated = false;
  const read = async (stream: ExecSession['stdout']): Promise<string> => {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      chunks.push(chunk.subarray(0, maxBytes - size));
      size += chunk.length;
      if (size <= maxBytes) continue;
      truncated = true;
      session.kill();
      break;
    }
    return Buffer.concat(chunks).toString();
  };
  const [stdout, stderr, result] = await Promise.all([read(session.stdout), read(session.stderr), session.result]);
  return { result, stdout, stderr, truncated };
};
