import type { RunnerSeen } from '../builder-runners/builder-runners.ts';
import type { MachineControllerOptions } from './options.ts';
import type { Machine } from './record.ts';
import type { Silences } from './silences.ts';
import type { HostFacts, RunnerFacts } from './snapshot.ts';

type World = Pick<MachineControllerOptions, 'builderRunners'> & { readonly silences: Silences };

/** Whose runner GitHub can be asked about: without an App there is nobody to ask. */
const isAskable = ({ spec }: Machine): boolean => Boolean(spec.ghActionsRunner?.ghAppSecretName);

/**
 * Whether what restarts the runner, or takes its tools away, disturbs no job: it has no Pod, so that Kubernetes does not know of it.
 * Unknown means busy.
 */
export const isRunnerIdle = async (
  { builderRunners }: Pick<World, 'builderRunners'>,
  machine: Machine,
  signal: AbortSignal,
): Promise<boolean> => {
  if (!isAskable(machine)) return true;
  const seen = await builderRunners.look(machine, { signal });
  return seen.kind === 'none' || (seen.kind === 'there' && !seen.isBusy);
};

/** GitHub is asked only while a builder that is being deleted still has its Mac. */
export const runnerFacts = async (
  world: World,
  machine: Machine,
  host: HostFacts,
  signal: AbortSignal,
): Promise<RunnerFacts> => {
  const { metadata } = machine;
  const isHeld = host.kind === 'present' && host.holder === 'me' && !host.gone;
  if (metadata.deletionTimestamp === undefined || !isAskable(machine) || !isHeld) return { kind: 'not asked' };
  return inMind(world.silences, metadata.uid, await world.builderRunners.look(machine, { signal }));
};

/** What GitHub said, with what it said before. */
const inMind = (silences: Silences, uid: string, seen: RunnerSeen): RunnerFacts => {
  if (seen.kind === 'unknown') return { ...seen, ...silences.silent(uid) };
  silences.heard(uid, seen.kind === 'there' && seen.isBusy);
  return seen;
};
