import type { Fault, Point } from './agent/settings.ts';
import type { Scenario } from './run-scenario.ts';

/** The points to try in each scenario. */
export type Selection = ReadonlyMap<Scenario, readonly Fault[]>;

/** The same for all Pods and runs. */
export const kindOf = (name: string): string =>
  name.replaceAll(/(pod|runner)-\d+/g, '$1').replaceAll(/\d+\.(log|raw|copied)/g, 'n.$1');

/** Dying here leaves the same state as after the effect before it, or only an incomplete file that is never read. */
const isMinor = (name: string): boolean =>
  /^(make folder|chmod|open|remove folder) (?!.*raw$)/.test(name) ||
  /^write (?!journal)/.test(name) ||
  /^rename (guests|logs)/.test(name) ||
  /^remove logs\/\S+\.(copied|log|log\.1)$/.test(name) ||
  /^unlink guests\/\S+\/(env|token)/.test(name) ||
  /\((Pending )?waiting/.test(name);

export const faultText = ({ mode, name, nth }: Fault): string => `${mode}: ${name} #${nth}`;

const faultsAt = ({ modes, name, nth }: Point): readonly Fault[] => modes.map((mode) => ({ mode, name, nth }));
const keyOf = ({ mode, name }: Fault): string => `${mode} ${kindOf(name)}`;

/** Every point; minor ones only once per kind and scenario. */
const all = (points: readonly Point[]): readonly Fault[] => {
  const tried = new Set<string>();
  return points.flatMap(faultsAt).filter((fault) => {
    const isKnown = tried.has(keyOf(fault));
    tried.add(keyOf(fault));
    return !isMinor(fault.name) || !isKnown;
  });
};

/** One of each kind, without minor ones: in the scenario that has the fewest so far, so that each scenario gets some. */
const sample = (points: ReadonlyMap<Scenario, readonly Point[]>): Selection => {
  const chosen = new Map([...points.keys()].map((scenario): [Scenario, Fault[]] => [scenario, []]));
  const kinds = new Map<string, [Scenario, Fault][]>();
  for (const [scenario, seen] of points)
    for (const fault of seen.flatMap(faultsAt))
      if (!isMinor(fault.name)) kinds.set(keyOf(fault), [...(kinds.get(keyOf(fault)) ?? []), [scenario, fault]]);
  // Rare ones first: they occur in few scenarios.
  const choices = [...kinds.values()].toSorted((one, other) => one.length - other.length);
  const load = (scenario: Scenario): number => chosen.get(scenario)?.length ?? 0;
  for (const options of choices) {
    const [scenario, fault] = options.reduce((best, next) => (load(next[0]) < load(best[0]) ? next : best));
    chosen.get(scenario)?.push(fault);
  }
  return chosen;
};

/** All of them take many minutes, and most repeat the same thing. */
export const select = (points: ReadonlyMap<Scenario, readonly Point[]>, everything: boolean): Selection =>
  everything ? new Map([...points].map(([scenario, seen]) => [scenario, all(seen)])) : sample(points);
