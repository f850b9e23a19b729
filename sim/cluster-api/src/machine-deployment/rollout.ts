import type { Live } from '@tartan/kube';
import type { External } from '../external/object-tracker.ts';
import type { Cluster, Machine, MachineDeployment, MachineSet } from '../kinds.ts';
import type { MachineSets } from './machine-sets.ts';

/** `2` or `"25%"` of a number of replicas. */
const scaledValue = (value: number | string | undefined, of: number, round: 'up' | 'down'): number => {
  if (typeof value === 'number') return value;
  const percent = /^(\d+)%$/.exec(value ?? '')?.[1];
  if (percent === undefined) return Number(value ?? 0) || 0;
  return Math[round === 'up' ? 'ceil' : 'floor']((Number(percent) * of) / 100);
};

/** How many Machines may be added and how many may be missing during a rollout. With zero for both, it could never proceed. */
export const rolloutLimits = ({ spec }: MachineDeployment): { maxSurge: number; maxUnavailable: number } => {
  const { replicas = 1, rollout } = spec ?? {};
  const strategy = rollout?.strategy;
  if (strategy?.type === 'OnDelete') return { maxSurge: 0, maxUnavailable: 0 };
  const maxSurge = scaledValue(strategy?.rollingUpdate?.maxSurge ?? 1, replicas, 'up');
  const unavailable = scaledValue(strategy?.rollingUpdate?.maxUnavailable ?? 0, replicas, 'down');
  return { maxSurge, maxUnavailable: Math.min(maxSurge === 0 && unavailable === 0 ? 1 : unavailable, replicas) };
};

/** The facts of a MachineSet that a rollout depends on. */
export interface SetFacts {
  /** Desired. */
  readonly replicas: number;
  /** Existing, including those being deleted. */
  readonly existing: number;
  readonly available: number;
}

export interface Rollout {
  readonly current: SetFacts;
  /** The oldest first. */
  readonly old: readonly SetFacts[];
}

/** The desired number of Machines of each MachineSet. */
export interface Plan {
  readonly current: number;
  readonly old: readonly number[];
}

const factsOf = ({ spec, status }: MachineSet): SetFacts => ({
  replicas: spec?.replicas ?? 0,
  existing: status?.replicas ?? 0,
  available: status?.availableReplicas ?? 0,
});

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

/** Scales up as far as the surge allows, and down at once. */
const planCurrent = (deployment: MachineDeployment, { current, old }: Rollout): number => {
  const { replicas = 1 } = deployment.spec ?? {};
  if (current.replicas >= replicas) return replicas;
  // Both desired and existing Machines take hosts.
  const total = sum([current, ...old].map((set) => Math.max(set.replicas, set.existing)));
  const room = replicas + rolloutLimits(deployment).maxSurge - total;
  return current.replicas + Math.max(0, Math.min(room, replicas - current.replicas));
};

/** One pass over the old sets that removes Machines; available ones only while enough others are available. */
interface Round {
  left: number;
  available: number;
  readonly minAvailable: number;
  readonly plan: number[];
}

const scaleDown = (round: Round, old: readonly SetFacts[], which: 'unavailable' | 'any'): void => {
  old.forEach((set, index) => {
    const now = round.plan[index] ?? 0;
    const most = which === 'any' ? now : Math.max(now - set.available, 0);
    let down = Math.min(most, round.left, now);
    if (down <= 0) return;
    if (set.available > 0) {
      const going = (take: number): number => Math.max(set.existing - (now - take), 0);
      const spare = Math.max(round.available - round.minAvailable, 0);
      if (going(down) > spare) down = Math.max(now - Math.min(set.existing - spare, now), 0);
      round.available -= Math.min(set.available, going(down));
    }
    round.plan[index] = now - down;
    round.left -= down;
  });
};

/** Old sets shrink only while enough Machines stay available; unavailable ones are removed first. */
const planOld = (deployment: MachineDeployment, { current, old }: Rollout, currentPlan: number): number[] => {
  const all = [current, ...old];
  const { replicas = 1 } = deployment.spec ?? {};
  const minAvailable = Math.max(replicas - rolloutLimits(deployment).maxUnavailable, 0);
  const going = sum([
    Math.max(current.existing - Math.min(current.replicas, currentPlan), 0),
    ...old.map((set) => Math.max(set.existing - set.replicas, 0)),
  ]);
  const notYetAvailable = Math.max(current.replicas - current.available, 0);
  const round: Round = {
    left: Math.max(sum(all.map((set) => set.replicas)) - going - minAvailable - notYetAvailable, 0),
    available: sum(all.map((set) => set.available)),
    minAvailable,
    plan: old.map((set) => set.replicas),
  };
  scaleDown(round, old, 'unavailable');
  scaleDown(round, old, 'any');
  return round.plan;
};

/** A Machine of an old set that never becomes available would block the rollout for ever: one of those is removed. */
const breakDeadlock = ({ current, old }: Rollout, plan: Plan): Plan => {
  const isStill = [current, ...old].every((set) => set.replicas === set.existing);
  const isUnchanged =
    plan.current === current.replicas && plan.old.every((count, index) => count === old[index]?.replicas);
  const stuck = old.findIndex((set) => set.available !== set.existing && set.replicas > 0);
  if (!isStill || !isUnchanged || stuck < 0 || current.available !== current.existing) return plan;
  return { ...plan, old: plan.old.map((count, index) => (index === stuck ? count - 1 : count)) };
};

export const planRollingUpdate = (deployment: MachineDeployment, rollout: Rollout): Plan => {
  const current = planCurrent(deployment, rollout);
  return breakDeadlock(rollout, { current, old: planOld(deployment, rollout, current) });
};

/** Users delete old Machines themselves: an old set only shrinks by deleted Machines, and by the surplus over all sets. */
export const planOnDelete = (deployment: MachineDeployment, rollout: Rollout): Plan => {
  const { replicas = 1 } = deployment.spec ?? {};
  const current = planCurrent(deployment, rollout);
  const old = rollout.old.map((set) => Math.min(set.replicas, set.existing));
  let tooMany = Math.max(sum(old) + current - replicas, 0);
  return {
    current,
    old: old.map((count) => {
      const down = Math.min(count, tooMany);
      tooMany -= down;
      return count - down;
    }),
  };
};

/** Replaces nothing; the only set with Machines, or the newest of all, follows the desired number. */
export const planPaused = (
  deployment: MachineDeployment,
  { current, old }: { current: SetFacts | undefined; old: readonly SetFacts[] },
): { current: number | undefined; old: readonly number[] } => {
  const { replicas = 1 } = deployment.spec ?? {};
  const before = { current: current?.replicas, old: old.map((set) => set.replicas) };
  const active = old.flatMap((set, index) => (set.replicas > 0 ? [index] : []));
  const currentIsActive = (current?.replicas ?? 0) > 0;
  if (active.length + (currentIsActive ? 1 : 0) > 1) return before;
  const [only] = active;
  if (only !== undefined && !currentIsActive)
    return { ...before, old: before.old.map((count, index) => (index === only ? replicas : count)) };
  if (current) return { ...before, current: replicas };
  return { ...before, old: before.old.map((count, index) => (index === old.length - 1 ? replicas : count)) };
};

export interface Snapshot {
  /** With core's defaults. */
  readonly deployment: Live<MachineDeployment>;
  readonly cluster: Live<Cluster>;
  readonly sets: MachineSets;
  readonly machines: readonly Live<Machine>[];
  readonly template: External | undefined;
  readonly now: number;
}

export type Decision =
  /** The numbers belong to `sets`. Without a current set, one is created for the first number. */
  | { kind: 'scale'; current: number | undefined; old: readonly number[]; makes: boolean }
  /** There is no template to clone: no MachineSet is created that could not create Machines. */
  | { kind: 'waitForTemplate' }
  | { kind: 'delete'; sets: readonly Live<MachineSet>[] }
  | { kind: 'finish' };

const all = ({ current, old }: MachineSets): Live<MachineSet>[] => [...(current ? [current] : []), ...old];

const emptyMachineSet = { replicas: 0, existing: 0, available: 0 };

export const decide = ({ deployment, sets, template }: Snapshot): Decision => {
  if (deployment.metadata.deletionTimestamp !== undefined) {
    if (all(sets).length === 0) return { kind: 'finish' };
    return { kind: 'delete', sets: all(sets).filter(({ metadata }) => metadata.deletionTimestamp === undefined) };
  }
  const current = sets.current && factsOf(sets.current);
  const old = sets.old.map(factsOf);
  if (deployment.spec?.paused === true)
    return { kind: 'scale', ...planPaused(deployment, { current, old }), makes: false };
  if (!current && !template?.object) return { kind: 'waitForTemplate' };
  const planned = deployment.spec?.rollout?.strategy?.type === 'OnDelete' ? planOnDelete : planRollingUpdate;
  const plan: Plan = planned(deployment, { current: current ?? emptyMachineSet, old });
  return { kind: 'scale', ...plan, makes: !current };
};

/** Old sets that are not needed any more, once the rollout is complete. */
export const machineSetsToCleanUp = ({ deployment, sets, machines }: Snapshot): Live<MachineSet>[] => {
  const { replicas = 1 } = deployment.spec ?? {};
  const { current, old } = sets;
  const isDone =
    current !== undefined &&
    machines.length === replicas &&
    factsOf(current).existing === replicas &&
    factsOf(current).available === replicas;
  return isDone
    ? old.filter(
        ({ metadata, spec, status }) =>
          metadata.deletionTimestamp === undefined &&
          spec?.replicas === 0 &&
          status?.replicas === 0 &&
          (status.observedGeneration ?? 0) >= (metadata.generation ?? 0),
      )
    : [];
};
