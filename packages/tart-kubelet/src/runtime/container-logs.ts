import { stat } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { finished } from 'node:stream/promises';
import { badRequest } from '../api/http-response.ts';
import type { ContainerName, LogRequest, PodRuntime, RemoteSession, StreamRequest } from '../api/pod-runtime.ts';
import { type LogFiles, type LogName, rotatedPath } from '../logs/log-files.ts';
import type { LogNotifier } from '../logs/log-notifier.ts';
import type { LogRecord, LogStream } from '../logs/log-record.ts';
import { formatLog, readLogRecords } from '../logs/read-log.ts';
import type { PodLister, PodView } from '../pods/pod-lister.ts';
import type { VmRuns } from '../vm-runs/vm-runs.ts';
import { findContainer, requireRunning, waitingReason } from './find-container.ts';

/** A run and the path of its log. */
interface RunLog {
  readonly run: LogName;
  readonly path: string;
}

const logExists = async (path: string): Promise<boolean> => {
  const found = await Promise.allSettled([path, rotatedPath(path)].map((file) => stat(file)));
  return found.some(({ status }) => status === 'fulfilled');
};

/**
 * Selects as the kubelet does: the running run; else the last one with a log, even while the next one waits to start; `previous` is the
 * run before the container's current one. Rejects with HttpError if there is none.
 */
const selectLog = async (
  files: LogFiles,
  view: PodView,
  { container, pod }: ContainerName,
  previous: boolean,
): Promise<RunLog> => {
  const logOfRun = (number: number): RunLog => {
    const run = { podUID: view.pod.metadata.uid, container, run: number };
    return { run, path: files.pathOf(run) };
  };
  const before = view.run > 0 ? logOfRun(view.run - 1) : undefined;
  const hasBefore = before !== undefined && (await logExists(before.path));
  if (previous) {
    if (before !== undefined && hasBefore) return before;
    throw badRequest(`previous terminated container "${container}" in pod "${pod}" not found`);
  }
  const current = logOfRun(view.run);
  if (view.running !== undefined || (await logExists(current.path))) return current;
  if (before !== undefined && hasBefore) return before;
  const reason = waitingReason(view, container);
  throw badRequest(
    `container "${container}" in pod "${pod}" is waiting to start${reason === undefined ? ' - no logs yet' : `: ${reason}`}`,
  );
};

type Records = AsyncIterable<LogRecord[]>;

async function* onlyStream(stream: LogStream, records: Records): AsyncGenerator<LogRecord[]> {
  for await (const block of records) yield block.filter((record) => record.stream === stream);
}

/**
 * The output of the main process from now on. Ends with the run or the client, and never ends the VM. Each stream is read
 * independently, with backpressure. A terminal has one stream for both.
 */
const attachToLog = (
  { stdout, stderr, tty }: StreamRequest,
  follow: (signal: AbortSignal) => Records,
): RemoteSession => {
  const detached = new AbortController();
  const shown = (records: Records): Readable => Readable.from(formatLog(records, {}), { objectMode: false });
  const out = stdout ? shown(tty ? follow(detached.signal) : onlyStream('stdout', follow(detached.signal))) : undefined;
  const errors = stderr && !tty ? shown(onlyStream('stderr', follow(detached.signal))) : undefined;
  const ended = [out, errors].flatMap((stream) => (stream === undefined ? [] : [finished(stream)]));
  return {
    stdin: undefined,
    stdout: out,
    stderr: errors,
    resize: () => {},
    result: Promise.all(ended).then(
      () => ({ kind: 'exited', code: 0 }) as const,
      () => (detached.signal.aborted ? ({ kind: 'exited', code: 0 } as const) : logUnreadable),
    ),
    close: () => {
      detached.abort();
      out?.destroy();
      errors?.destroy();
    },
  };
};

const logUnreadable = { kind: 'failed', message: 'the log cannot be read any more: see the log of the agent' } as const;

export interface ContainerLogsOptions {
  readonly lister: PodLister;
  readonly files: LogFiles;
  readonly changes: LogNotifier;
  readonly isFinished: VmRuns['isLogFinished'];
}

/** Logs and attach: both read the container's log. */
export const createContainerLogs = (options: ContainerLogsOptions): Pick<PodRuntime, 'readLog' | 'attach'> => {
  const { lister, files, changes, isFinished } = options;

  /** Also true when the Pod is gone, or its container is in another run. */
  const hasEnded = (container: ContainerName, { run }: RunLog): boolean => {
    if (isFinished(run)) return true;
    const view = lister.get(container);
    return view?.pod.metadata.uid !== run.podUID || view.run !== run.run;
  };

  const read = (container: ContainerName, log: RunLog, wanted: Omit<LogRequest, 'previous'>) => {
    const { follow, tailLines, signal } = wanted;
    const following = follow ? { notifier: changes, ended: () => hasEnded(container, log), signal } : undefined;
    return readLogRecords(log.path, { tailLines, follow: following });
  };

  return {
    readLog: async (container, { previous, ...wanted }) => {
      const log = await selectLog(files, findContainer(lister, container), container, previous);
      return read(container, log, wanted);
    },
    attach: async (container, streams: StreamRequest): Promise<RemoteSession> => {
      const view = findContainer(lister, container);
      requireRunning(view);
      if (streams.stdin)
        throw badRequest(
          `a macOS guest has no console to attach to: attach shows what container "${container.container}" prints, and takes no ` +
            `input. Leave -i out, or use kubectl exec -it ${container.pod} -- zsh`,
        );
      const log = await selectLog(files, view, container, false);
      return attachToLog(streams, (signal) => read(container, log, { follow: true, tailLines: 0, signal }));
    },
  };
};
