import type { SetFacts } from './rollout.ts';
import { totalOf } from './shapes.ts';

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
