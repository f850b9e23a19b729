import type { Writable } from 'node:stream';
import type { Cluster } from '../cluster/cluster.ts';
import { letAllGo } from './let-all-go.ts';
import type { Fate } from './let-go.ts';
import { createProgress } from './progress.ts';
import { podTable, reportOf } from './show-pods.ts';
import { findStuck, type Selection, type StuckPod } from './stuck-pods.ts';

export interface UnstickOptions extends Selection {
  /** Without it, nothing is written. */
  readonly apply: boolean;
  readonly output: 'table' | 'json';
}

export interface UnstickOutput {
  readonly stdout: Writable;
  /** For what is only interesting while it goes on. */
  readonly stderr: Writable & { isTTY?: boolean };
}

const nothingLeft = 0;
const somethingLeft = 1;

/**
 * Finds Pods that are Terminating and held by the finalizer of an agent whose Node is gone, and lets them go when told to. Answers the
 * exit code. Rejects when the cluster cannot be looked at.
 */
export const unstick = async (
  options: UnstickOptions,
  cluster: Cluster,
  { stdout, stderr }: UnstickOutput,
  signal: AbortSignal,
): Promise<number> => {
  const stuck = await findStuck(cluster, options, { signal });
  const fates = options.apply ? await apply(cluster, stuck, stderr, signal) : stuck.map(plan);
  const reports = fates.map(reportOf);
  const counts = countsOf(fates);
  if (options.output === 'json')
    stdout.write(`${JSON.stringify({ applied: options.apply, counts, pods: reports }, null, 2)}\n`);
  else
    for (const line of [...podTable(reports, cluster.clock.now()), ...conclusion(counts, fates.length)])
      stdout.write(`${line}\n`);
  return counts['would let go'] + counts.failed === 0 ? nothingLeft : somethingLeft;
};

const plan = (stuck: StuckPod): Fate => ({
  kind: stuck.decision.kind === 'release' ? 'would let go' : 'left',
  stuck,
});

/** Those that are left are told of too, in their place. */
const apply = async (
  cluster: Cluster,
  stuck: readonly StuckPod[],
  stderr: UnstickOutput['stderr'],
  signal: AbortSignal,
): Promise<Fate[]> => {
  const chosen = stuck.filter(({ decision }) => decision.kind === 'release');
  const progress = createProgress(stderr, chosen.length, 'Pods');
  const fates = await letAllGo(cluster, chosen, (done) => progress.tell(done), { signal });
  progress.end();
  const byUID = new Map(fates.map((fate) => [fate.stuck.pod.metadata.uid, fate]));
  return stuck.map((each) => byUID.get(each.pod.metadata.uid) ?? plan(each));
};

type Counts = Readonly<Record<Fate['kind'], number>>;

const countsOf = (fates: readonly Fate[]): Counts => {
  const counts = { 'would let go': 0, 'let go': 0, 'went by itself': 0, left: 0, failed: 0 };
  for (const { kind } of fates) counts[kind] += 1;
  return counts;
};

const pods = (count: number): string => (count === 1 ? '1 Pod' : `${count} Pods`);

const conclusion = (counts: Counts, total: number): string[] => {
  if (total === 0) return ['No Pod is stuck: none is Terminating and held by an agent.'];
  const parts = [
    counts['would let go'] > 0 && `${pods(counts['would let go'])} would be let go`,
    counts['let go'] > 0 && `${pods(counts['let go'])} let go`,
    counts['went by itself'] > 0 && `${pods(counts['went by itself'])} went by themselves`,
    counts.left > 0 && `${pods(counts.left)} left alone`,
    counts.failed > 0 && `${pods(counts.failed)} failed`,
  ].filter((part) => part !== false);
  const next =
    counts['would let go'] > 0
      ? ' Nothing was changed; --apply does it.'
      : counts.failed > 0
        ? ' Run it again when the reason is gone: it goes on where it was.'
        : '';
  return ['', `${parts.join(', ')}.${next}`];
};
