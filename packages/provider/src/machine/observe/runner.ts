import type { Clock } from '@tartan/kube/clock';
import type { Machine } from '../../controller-deps.ts';
import type { MachineControllerOptions } from '../options.ts';
import type { HostFacts, RunnerFacts } from '../snapshot.ts';

type RunnerDeps = Pick<MachineControllerOptions, 'builderRunners'> & { readonly runnerLastSeen: RunnerLastSeen };

/** Without a GitHub App, GitHub cannot be asked about the runner. */
const hasGitHubApp = ({ spec }: Machine): boolean => Boolean(spec.ghActionsRunner?.ghAppSecretName);

/**
 * Whether restarting the runner, or removing its tools, disturbs no job. A runner is no Pod, so Kubernetes does not know. Unknown means
 * busy.
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

/** Asks GitHub only while a builder that is being deleted still has its Mac. */
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
 * Since when GitHub has not answered about the runner of a machine, and its last answer. In memory, on the monotonic clock: a restart
 * begins at zero, which can only extend a wait.
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

type RunnerLastSeen = ReturnType<typeof createRunnerLastSeen>;
