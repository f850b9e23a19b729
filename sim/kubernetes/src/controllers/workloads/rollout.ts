import { type DeploymentSpec, type IntOrPercent, totalOf } from './objects.ts';

const resolve = (amount: IntOrPercent, total: number, round: (value: number) => number): number => {
  if (typeof amount === 'number') return amount;
  return round((Number.parseInt(amount, 10) * total) / 100);
};

export interface RolloutLimits {
  /** How many Pods there may be beyond the wanted ones. */
  maxSurge: number;
  /** How many may be missing. */
  maxUnavailable: number;
}

/** Surge is rounded up and unavailability down; should both come to nothing, one may be missing, or no roll would ever move. */
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
 * Sizes of sets in the midst of a rollout when their total changes to `allowed`: each grows or shrinks by its share, so that the
 * rollout neither jumps nor falls back. The largest takes what rounding leaves.
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

/** A ReplicaSet, as far as a rollout counts it. */
export interface SetFacts {
  name: string;
  /** Wanted of it. */
  replicas: number;
  available: number;
  /** What the Deployment wanted in all when it last scaled this set, and at most; undefined for a set it did not make. */
  desired: number | undefined;
  max: number | undefined;
}

export interface RolloutFacts {
  replicas: number;
  recreate: boolean;
  paused: boolean;
  limits: RolloutLimits;
  /** The set of the current template. */
  current: SetFacts | undefined;
  /** The others, oldest first. */
  old: readonly SetFacts[];
  /** Pods of the others have not ended yet. */
  oldPodsRun: boolean;
}

export type RolloutStep =
  | { kind: 'none' }
  /** Make the set of the current template. */
  | { kind: 'create'; replicas: number }
  /** Sizes by name; a set that keeps its size learns the new totals. */
  | { kind: 'scale'; sizes: ReadonlyMap<string, number> };

const noStep: RolloutStep = { kind: 'none' };

const scaleTo = (sizes: readonly (readonly [string, number])[]): RolloutStep =>
  sizes.length === 0 ? noStep : { kind: 'scale', sizes: new Map(sizes) };

const isActive = ({ replicas }: SetFacts): boolean => replicas > 0;

const allOf = ({ current, old }: RolloutFacts): SetFacts[] => [...(current ? [current] : []), ...old];

/** How large the current set may be now: all that is wanted, as far as there is room. */
const newSetSize = (facts: RolloutFacts): number => {
  const { replicas, recreate, limits, current } = facts;
  if (recreate) return replicas;
  const has = current?.replicas ?? 0;
  const room = replicas + limits.maxSurge - totalOf(allOf(facts), (set) => set.replicas);
  return room <= 0 ? has : has + Math.min(room, replicas - has);
};

/** Old Pods go as new ones become available; first of all those that are not available anyway. */
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

/** A new number of replicas, or a pause in which only that number counts. */
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

/** The set has that size, and knows for how many. */
const isScaledFor = ({ replicas }: RolloutFacts, set: SetFacts, size: number): boolean =>
  set.replicas === size && set.desired === replicas;

/** One step of a rollout. Whatever it changes leads to the next look. */
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
