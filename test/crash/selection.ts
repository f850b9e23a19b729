import type { Mode, Point } from './faults.ts';
import type { Scenario } from './run-scenario.ts';

/**
 * The points to try. All of them take minutes, and many repeat the same on another Mac. Each mode is tried once per kind of effect, in the
 * first scenario that has it; `killed after` is also tried for every third kind that a scenario shares with earlier ones.
 */
export interface Selection {
  /** Indices of points. */
  of(mode: Mode, scenario: Scenario, points: readonly Point[]): readonly number[];
}

/** The same for all Macs and machines, and without informational fields of a status. */
export const kindOf = ({ name }: Point): string =>
  name
    .replaceAll(/(host|mac)-\d+/g, '$1')
    .replace(/(mac)-\d+-\d+-…/, '$1')
    .replaceAll(/-?status\.(conditions|phase|ready|observedGeneration|addresses|since)(, )?/g, '')
    .replace(/(, )?\)$/, ')');

const isKubernetes = ({ name }: Point): boolean => /^(PATCH|POST|PUT|DELETE) /.test(name);

/** `killed before` a write to Kubernetes is the same as `killed after` the effect before it. */
const suits = (mode: Mode, point: Point, everything: boolean): boolean => {
  if (mode === 'conflict') return isKubernetes(point);
  if (mode === 'refused') return /^(PATCH|POST) secrets/.test(point.name);
  return mode !== 'killed before' || everything || !isKubernetes(point);
};

export const createSelection = (everything: boolean): Selection => {
  const tried = new Set<string>();
  let shared = 0;
  const triedBy = (text: string): boolean => {
    const isNew = !tried.has(text);
    tried.add(text);
    return !isNew;
  };
  return {
    of: (mode, { key, mostlyKnown = false }, points) =>
      [...points.entries()]
        .filter(([, point]) => {
          if (!suits(mode, point, everything)) return false;
          const kind = kindOf(point);
          const isKnown = triedBy(`${mode}: ${kind}`);
          const isKnownHere = triedBy(`${mode} in ${key}: ${kind}`);
          if (everything || !isKnown) return true;
          if (mode !== 'killed after' || mostlyKnown || isKnownHere) return false;
          shared += 1;
          return shared % 3 === 1;
        })
        .map(([index]) => index),
  };
};
