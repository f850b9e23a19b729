import type { Mode, Point } from './faults.ts';
import type { Scenario } from './run-scenario.ts';

/**
 * Which points are tried. All of them take minutes, and many are the same thing done to another Mac, or once more. Everything happens once
 * for each kind of effect, in the first story that has it; and killed after an effect, a manager is also for every third kind that a story
 * shares with those before it.
 */
export interface Selection {
  /** Indices of points. */
  of(mode: Mode, scenario: Scenario, points: readonly Point[]): readonly number[];
}

/** One for all Macs and machines, and without what a status says for people beside what it remembers. */
export const kindOf = ({ name }: Point): string =>
  name
    .replaceAll(/(host|mac)-\d+/g, '$1')
    .replace(/(mac)-\d+-\d+-…/, '$1')
    .replaceAll(/-?status\.(conditions|phase|ready|observedGeneration|addresses|since)(, )?/g, '')
    .replace(/(, )?\)$/, ')');

const isKubernetes = ({ name }: Point): boolean => /^(PATCH|POST|PUT|DELETE) /.test(name);

/** To be killed before a write to Kubernetes is to be killed after whatever was before it. */
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
