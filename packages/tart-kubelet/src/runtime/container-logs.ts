import type { ContainerName, LogRequest, PodRuntime, RemoteSession, StreamRequest } from '../api/pod-runtime.ts';
import { badRequest } from '../api/problem.ts';
import type { LogChanges } from '../logs/log-changes.ts';
import type { LogFiles } from '../logs/log-files.ts';
import { readRecords } from '../logs/read-records.ts';
import type { PodViews } from '../pods/pod-views.ts';
import type { Runs } from '../runs/runs.ts';
import { attachToLog } from './attach-to-log.ts';
import { knownContainer, runningOf } from './known-container.ts';
import { logOf, type RunLog } from './log-of.ts';

export interface ContainerLogsOptions {
  readonly views: PodViews;
  readonly files: LogFiles;
  readonly changes: LogChanges;
  readonly isFinished: Runs['isFinished'];
}

/** What is read of a container's output: its log, and the same as it grows for whoever attaches. */
export const createContainerLogs = (options: ContainerLogsOptions): Pick<PodRuntime, 'readLog' | 'attach'> => {
  const { views, files, changes, isFinished } = options;

  /** Also when nobody says so any more: the Pod is gone, or its container in another run. */
  const isOver = (container: ContainerName, { run }: RunLog): boolean => {
    if (isFinished(run)) return true;
    const view = views.find(container);
    return view?.pod.metadata.uid !== run.podUID || view.run !== run.run;
  };

  const read = (container: ContainerName, log: RunLog, wanted: Omit<LogRequest, 'previous'>) => {
    const { follow, tailLines, signal } = wanted;
    const following = follow ? { changes, ended: () => isOver(container, log), signal } : undefined;
    return readRecords(log.path, { tailLines, follow: following });
  };

  return {
    readLog: async (container, { previous, ...wanted }) => {
      const log = await logOf(files, knownContainer(views, container), container, previous);
      return read(container, log, wanted);
    },
    attach: async (container, streams: StreamRequest): Promise<RemoteSession> => {
      const view = knownContainer(views, container);
      runningOf(view);
      if (streams.stdin)
        throw badRequest(
          `a macOS guest has no console to attach to: attach shows what container "${container.container}" prints, and takes no ` +
            `input. Leave -i out, or use kubectl exec -it ${container.pod} -- zsh`,
        );
      const log = await logOf(files, view, container, false);
      return attachToLog(streams, (signal) => read(container, log, { follow: true, tailLines: 0, signal }));
    },
  };
};
