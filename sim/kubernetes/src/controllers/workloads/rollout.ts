import type { Allowance } from './amounts.ts';
import { proportions } from './proportions.ts';
import { totalOf } from './shapes.ts';

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
  allowance: Allowance;
  /** The set of the current template. */
  current: SetFacts | undefined;
  /** The others, oldest first. */
  old: readonly SetFacts[];
  /** Pods of the others have not ended yet. */
  oldPodsRun: boolean;
}

export type Rollout =
  | { kind: 'stay' }
  /** Make the set of the current template. */
  | { kind: 'create'; replicas: number }
  /** Sizes by name; a set that keeps its size learns the new totals. */
  | { kind: 'scale'; sizes: ReadonlyMap<string, number> };

const stay: Rollout = { kind: 'stay' };

const scaleTo = (sizes: readonly (readonly [string, number])[]): Rollout =>
  sizes.length === 0 ? stay : { kind: 'scale', sizes: new Map(sizes) };

const isActive = ({ replicas }: SetFacts): boolean => replicas > 0;

const allOf = ({ current, old }: RolloutFacts): SetFacts[] => [...(current ? [current] : []), ...old];

/** How large the current set may be now: all that is wanted, as far as there is room. */
const roomFor = (facts: RolloutFacts): number => {
  const { replicas, recreate, allowance, current } = facts;
  if (recreate) return replicas;
  const has = current?.replicas ?? 0;
  const room = replicas + allowance.maxSurge - totalOf(allOf(facts), (set) => set.replicas);
  return room <= 0 ? has : has + Math.min(room, replicas - has);
};

/** Old Pods go as new ones become available; first of all those that are not available anyway. */
const shrinkOld = ({ replicas, allowance, current, old }: RolloutFacts): [string, number][] => {
  const fresh = { replicas: current?.replicas ?? 0, available: current?.available ?? 0 };
  const minAvailable = replicas - allowance.maxUnavailable;
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

const roll = (facts: RolloutFacts): Rollout => {
  const { current, replicas } = facts;
  if (!current) return { kind: 'create', replicas: roomFor(facts) };
  const size = current.replicas > replicas ? replicas : roomFor(facts);
  if (size !== current.replicas) return scaleTo([[current.name, size]]);
  return scaleTo(shrinkOld(facts));
};

const recreate = (facts: RolloutFacts): Rollout => {
  const { current, old, oldPodsRun, replicas } = facts;
  const rest = old.filter(isActive);
  if (rest.length > 0) return scaleTo(rest.map(({ name }) => [name, 0] as const));
  if (oldPodsRun) return stay;
  if (!current) return { kind: 'create', replicas };
  return current.replicas === replicas ? stay : scaleTo([[current.name, replicas]]);
};

/** A new number of replicas, or a pause in which only that number counts. */
const rescale = (facts: RolloutFacts): Rollout => {
  const { current, old, replicas, allowance } = facts;
  const active = allOf(facts).filter(isActive);
  const only = active.length > 1 ? undefined : (active[0] ?? current ?? old.at(-1));
  if (active.length <= 1) return only && !isCounted(facts, only, replicas) ? scaleTo([[only.name, replicas]]) : stay;
  const saturated = current && isCounted(facts, current, replicas) && current.available === replicas;
  if (saturated) return scaleTo(old.filter(isActive).map(({ name }) => [name, 0] as const));
  if (facts.recreate) return stay;
  const sizes = proportions(active, replicas, replicas > 0 ? replicas + allowance.maxSurge : 0);
  const changed = active.some(({ name, replicas: size, desired }) => sizes.get(name) !== size || desired !== replicas);
  return changed ? { kind: 'scale', sizes } : stay;
};

/** The set has that size, and knows for how many. */
const isCounted = ({ replicas }: RolloutFacts, set: SetFacts, size: number): boolean =>
  set.replicas === size && set.desired === replicas;

/** One step of a rollout. Whatever it changes leads to the next look. */
export const decideRollout = (facts: RolloutFacts): Rollout => {
  if (facts.paused) return rescale(facts);
  const scaled = allOf(facts).some(
    (set) => isActive(set) && set.desired !== undefined && set.desired !== facts.replicas,
  );
  if (scaled) {
    const step = rescale(facts);
    if (step.kind !== 'stay') return step;
  }
  return facts.recreate ? recreate(facts) : roll(facts);
};
