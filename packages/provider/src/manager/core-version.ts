import {
  type CallOptions,
  type Client,
  errorMessage,
  ignoreNotFound,
  type Logger,
  type ManagerResult,
} from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { coreClusters, coreGroup } from '../core/kinds.ts';

export type CoreVersion = Parameters<typeof coreClusters>[0];

const newestFirst: readonly CoreVersion[] = ['v1beta2', 'v1beta1'];

const notInstalled = `Cluster API core is not installed in this cluster: it serves neither ${newestFirst.join(' nor ')} of ${coreGroup}. Install Cluster API core with its custom resource definitions (clusterctl init); this manager goes on by itself once they are there.`;

/** Undefined: core is not installed. Detected by listing Clusters, which the manager may do anyway. */
const servedVersion = async (client: Pick<Client, 'list'>, call: CallOptions): Promise<CoreVersion | undefined> => {
  for (const version of newestFirst) {
    if ((await ignoreNotFound(client.list(coreClusters(version), call))) !== undefined) return version;
  }
  return undefined;
};

interface FindCoreDeps {
  readonly client: Pick<Client, 'list'>;
  readonly clock: Clock;
  readonly log: Logger;
  readonly deadlineMs: number;
  readonly retryMs: number;
  /** Called with the problem so far. */
  readonly onProblem: (problem: string) => void;
}

/**
 * Which version of Cluster API's kinds to use. Retries until it is found, the deadline passes or the signal aborts: core and the provider
 * are often installed by the same command, in any order (INC-301). Otherwise returns how the manager ends.
 * Caveat: checked once. If core stops serving that version, only the next process notices.
 */
export const findCoreVersion = async (
  finder: FindCoreDeps,
  signal: AbortSignal,
): Promise<CoreVersion | ManagerResult> => {
  const { client, clock, log, deadlineMs, retryMs, onProblem } = finder;
  const deadline = clock.monotonic() + deadlineMs;
  let problem = notInstalled;
  while (!signal.aborted) {
    try {
      const version = await servedVersion(client, { signal });
      if (version !== undefined) return version;
      problem = notInstalled;
    } catch (error) {
      problem = `Cluster API core cannot be looked for: ${errorMessage(error)}`;
    }
    const left = deadline - clock.monotonic();
    if (signal.aborted) break;
    if (left <= 0) return { ok: false, reason: problem };
    log.warn('Cluster API core is not there yet', { problem, forSeconds: Math.ceil(left / 1000) });
    onProblem(problem);
    await sleep(clock, Math.min(left, retryMs), signal);
  }
  return { ok: true };
};
