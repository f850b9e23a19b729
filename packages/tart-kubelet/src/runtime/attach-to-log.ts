import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import type { RemoteSession, StreamRequest } from '../api/pod-runtime.ts';
import type { LogRecord, LogStream } from '../logs/log-line.ts';
import { showLog } from '../logs/show-log.ts';

type Records = AsyncIterable<LogRecord[]>;

async function* only(stream: LogStream, records: Records): AsyncGenerator<LogRecord[]> {
  for await (const block of records) yield block.filter((record) => record.stream === stream);
}

/**
 * A view on what the main process prints from now on. Ends with the run, or with the client, and never ends the virtual machine. Each
 * stream is read by itself, at the pace of its reader. In a terminal there is one stream for both.
 */
export const attachToLog = (
  { stdout, stderr, tty }: StreamRequest,
  follow: (signal: AbortSignal) => Records,
): RemoteSession => {
  const left = new AbortController();
  const shown = (records: Records): Readable => Readable.from(showLog(records, {}), { objectMode: false });
  const out = stdout ? shown(tty ? follow(left.signal) : only('stdout', follow(left.signal))) : undefined;
  const errors = stderr && !tty ? shown(only('stderr', follow(left.signal))) : undefined;
  const over = [out, errors].flatMap((stream) => (stream === undefined ? [] : [finished(stream)]));
  return {
    stdin: undefined,
    stdout: out,
    stderr: errors,
    resize: () => {},
    outcome: Promise.all(over).then(
      () => ({ kind: 'exited', code: 0 }) as const,
      () => (left.signal.aborted ? ({ kind: 'exited', code: 0 } as const) : unreadable),
    ),
    end: () => {
      left.abort();
      out?.destroy();
      errors?.destroy();
    },
  };
};

const unreadable = { kind: 'failed', message: 'the log cannot be read any more: see the log of the agent' } as const;
