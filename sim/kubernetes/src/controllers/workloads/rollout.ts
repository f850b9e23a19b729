import { type DeploymentSpec, type IntOrPercent, totalOf } from './objects.ts';

const resolve = (amount: IntOrPercent, total: number, round: (value: number) => number): number => {
  if (typeof amount === 'number') return amount;
  return round((Number.parseInt(amount, 10) * total) / 100);
};

export interface RolloutLimits {
  /** How many Pods may exist beyond the desired number. */
  maxSurge: number;
  /** How many Pods may be unavailable. */
  maxUnavailable: number;
}

/** Surge is rounded up, unavailability down. If both are 0, one Pod may be unavailable; otherwise no rollout would progress. */
export const rolloutLimits = ({ strategy, replicas }: DeploymentSpec): RolloutLimits => {
  if (strategy.type !== 'RollingUpdate' || replicas === 0) return { maxSurge: 0, maxUnavailable: 0 };
  const { maxSurge = 0, maxUnavailable = 0 } = strategy.rollingUpdate ?? {};
  const surge = resolve(maxSurge, replicas, Math.ceil);
  const unavailable = resolve(maxUnavailable, replicas, Math.floor);
  return {
    maxSurge: surge,
    maxUnavailable: Math.min(surge === 0 && unavailable === 0 ? 1 : unavailable, replicas),
  };
};

/** Half away from zero, as Go rounds. */
const round = (value: number): number => Math.sign(value) * Math.round(Math.abs(value));

/**
 * Sizes of ReplicaSets during a rollout when their total changes to `allowed`: each grows or shrinks by its share, so that the rollout
 * neither jumps nor falls back. The largest takes the rounding difference.
 */
export const proportions = (sets: readonly SetFacts[], replicas: number, allowed: number): Map<string, number> => {
  const change = allowed - totalOf(sets, (set) => set.replicas);
  const bySize = sets.toSorted((a, b) => b.replicas - a.replicas || (change > 0 ? -1 : 1));
  const sizes = new Map<string, number>();
  let given = 0;
  for (const { name, replicas: size, max = replicas } of bySize) {
    const left = change - given;
    const share = round((size * allowed) / Math.max(1, max)) - size;
    const part = change > 0 ? Math.min(Math.max(share, 0), left) : Math.max(Math.min(share, 0), left);
    sizes.set(name, size + part);
    given += part;
  }
  const [largest] = bySize;
  if (largest) sizes.set(largest.name, Math.max(0, (sizes.get(largest.name) ?? 0) + change - given));
  return sizes;
};

/** The facts about a ReplicaSet that a rollout needs. */
export interface SetFacts {
  name: string;
  /** Its desired replicas. */
  replicas: number;
  available: number;
  /** The Deployment's replicas and their maximum when it last scaled this ReplicaSet; undefined if it never did. */
  desired: number | undefined;
  max: number | undefined;
}

export interface RolloutFacts {
  replicas: number;
  recreate: boolean;
  paused: boolean;
  limits: RolloutLimits;
  /** The ReplicaSet of the current template. */
  current: SetFacts | undefined;
  /** The others, oldest first. */
  old: readonly SetFacts[];
  /** Old Pods have not ended yet. */
  oldPodsRun: boolean;
}

export type RolloutStep =
  | { kind: 'none' }
  /** Create the ReplicaSet of the current template. */
  | { kind: 'create'; replicas: number }
  /** Sizes by name. A ReplicaSet that keeps its size gets the new annotations. */
  | { kind: 'scale'; sizes: ReadonlyMap<string, number> };

const noStep: RolloutStep = { kind: 'none' };

const scaleTo = (sizes: readonly (readonly [string, number])[]): RolloutStep =>
  sizes.length === 0 ? noStep : { kind: 'scale', sizes: new Map(sizes) };

const isActive = ({ replicas }: SetFacts): boolean => replicas > 0;

const allOf = ({ current, old }: RolloutFacts): SetFacts[] => [...(current ? [current] : []), ...old];

/** The size of the current ReplicaSet: all replicas, limited by the surge. */
const newSetSize = (facts: RolloutFacts): number => {
  const { replicas, recreate, limits, current } = facts;
  if (recreate) return replicas;
  const has = current?.replicas ?? 0;
  const room = replicas + limits.maxSurge - totalOf(allOf(facts), (set) => set.replicas);
  return room <= 0 ? has : has + Math.min(room, replicas - has);
};

/** Old Pods are deleted as new ones become available, unavailable ones first. */
const scaleDownOld = ({ replicas, limits, current, old }: RolloutFacts): [string, number][] => {
  const fresh = { replicas: current?.replicas ?? 0, available: current?.available ?? 0 };
  const minAvailable = replicas - limits.maxUnavailable;
  const all = fresh.replicas + totalOf(old, (set) => set.replicas);
  const sizes = new Map(old.filter(isActive).map(({ name, replicas: size }) => [name, size]));
  let spare = all - minAvailable - (fresh.replicas - fresh.available);
  if (spare <= 0) return [];
  for (const { name, replicas: size, available } of old) {
    const unhealthy = Math.min(spare, Math.max(0, size - available));
    sizes.set(name, size - unhealthy);
    spare -= unhealthy;
  }
  let excess = fresh.available + totalOf(old, (set) => set.available) - minAvailable;
  for (const [name, size] of sizes) {
    const gone = Math.min(size, Math.max(0, excess));
    sizes.set(name, size - gone);
    excess -= gone;
  }
  return [...sizes].filter(([name, size]) => old.some((set) => set.name === name && set.replicas !== size));
};

const roll = (facts: RolloutFacts): RolloutStep => {
  const { current, replicas } = facts;
  if (!current) return { kind: 'create', replicas: newSetSize(facts) };
  const size = current.replicas > replicas ? replicas : newSetSize(facts);
  if (size !== current.replicas) return scaleTo([[current.name, size]]);
  return scaleTo(scaleDownOld(facts));
};

const recreate = (facts: RolloutFacts): RolloutStep => {
  const { current, old, oldPodsRun, replicas } = facts;
  const rest = old.filter(isActive);
  if (rest.length > 0) return scaleTo(rest.map(({ name }) => [name, 0] as const));
  if (oldPodsRun) return noStep;
  if (!current) return { kind: 'create', replicas };
  return current.replicas === replicas ? noStep : scaleTo([[current.name, replicas]]);
};

/** Handles a new number of replicas, and scaling while paused. */
const rescale = (facts: RolloutFacts): RolloutStep => {
  const { current, old, replicas, limits } = facts;
  const active = allOf(facts).filter(isActive);
  const only = active.length > 1 ? undefined : (active[0] ?? current ?? old.at(-1));
  if (active.length <= 1)
    return only && !isScaledFor(facts, only, replicas) ? scaleTo([[only.name, replicas]]) : noStep;
  const saturated = current && isScaledFor(facts, current, replicas) && current.available === replicas;
  if (saturated) return scaleTo(old.filter(isActive).map(({ name }) => [name, 0] as const));
  if (facts.recreate) return noStep;
  const sizes = proportions(active, replicas, replicas > 0 ? replicas + limits.maxSurge : 0);
  const changed = active.some(({ name, replicas: size, desired }) => sizes.get(name) !== size || desired !== replicas);
  return changed ? { kind: 'scale', sizes } : noStep;
};

/** The ReplicaSet has that size, and its annotation the current replicas. */
const isScaledFor = ({ replicas }: RolloutFacts, set: SetFacts, size: number): boolean =>
  set.replicas === size && set.desired === replicas;

/** One step of a rollout. Each change triggers the next reconcile. */
export const decideRollout = (facts: RolloutFacts): RolloutStep => {
  if (facts.paused) return rescale(facts);
  const scaled = allOf(facts).some(
    (set) => isActive(set) && set.desired !== undefined && set.desired !== facts.replicas,
  );
  if (scaled) {
    const step = rescale(facts);
    if (step.kind !== 'none') return step;
  }
  return facts.recreate ? recreate(facts) : roll(facts);
};
