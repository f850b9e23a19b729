import type { Clock } from '@tartan/kube/clock';
import type { Machine } from '../../controller-deps.ts';
import type { MachineControllerOptions } from '../options.ts';
import type { HostFacts, RunnerFacts } from '../snapshot.ts';

type RunnerDeps = Pick<MachineControllerOptions, 'builderRunners'> & { readonly runnerLastSeen: RunnerLastSeen };

/** Whose runner GitHub can be asked about: without an App there is nobody to ask. */
const hasGitHubApp = ({ spec }: Machine): boolean => Boolean(spec.ghActionsRunner?.ghAppSecretName);

/**
 * Whether what restarts the runner, or takes its tools away, disturbs no job: it has no Pod, so that Kubernetes does not know of it.
 * Unknown means busy.
 */
export const isRunnerIdle = async (
  { builderRunners }: Pick<RunnerDeps, 'builderRunners'>,
  machine: Machine,
  signal: AbortSignal,
): Promise<boolean> => {
  if (!hasGitHubApp(machine)) return true;
  const seen = await builderRunners.find(machine, { signal });
  return seen.kind === 'none' || (seen.kind === 'there' && !seen.isBusy);
};

/** GitHub is asked only while a builder that is being deleted still has its Mac. */
export const runnerFacts = async (
  deps: RunnerDeps,
  machine: Machine,
  host: HostFacts,
  signal: AbortSignal,
): Promise<RunnerFacts> => {
  const { metadata } = machine;
  const isHeld = host.kind === 'present' && host.holder === 'me' && !host.gone;
  if (metadata.deletionTimestamp === undefined || !hasGitHubApp(machine) || !isHeld) return { kind: 'not asked' };
  const seen = await deps.builderRunners.find(machine, { signal });
  return seen.kind === 'unknown' ? { ...seen, ...deps.runnerLastSeen.unreachableFor(metadata.uid) } : seen;
};

/**
 * Since when GitHub says nothing about the runner of a machine, and what it said last. Memory of this process only: whoever starts anew
 * counts from zero, so that a restart can make somebody wait longer and never shorter. On the monotonic clock.
 */
export const createRunnerLastSeen = (clock: Pick<Clock, 'monotonic'>) => {
  const known = new Map<string, { readonly isBusy: boolean; readonly since: number | undefined }>();
  return {
    /** The first `unknown` starts the count, any other answer ends it. */
    record: (uid: string, seen: RunnerFacts): void => {
      if (seen.kind === 'not asked') return;
      if (seen.kind !== 'unknown') known.set(uid, { isBusy: seen.kind === 'there' && seen.isBusy, since: undefined });
      else if (known.get(uid)?.since === undefined) known.set(uid, { isBusy: seen.wasBusy, since: clock.monotonic() });
    },
    /** For how long, and whether it had a job before. */
    unreachableFor: (uid: string) => {
      const now = clock.monotonic();
      const { isBusy = false, since = now } = known.get(uid) ?? {};
      return { forMs: now - since, wasBusy: isBusy };
    },
    forget: (uid: string): unknown => known.delete(uid),
  };
};

export type RunnerLastSeen = ReturnType<typeof createRunnerLastSeen>;
