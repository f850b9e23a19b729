import { emptyRuleset, type PfRule, type Ruleset } from './rule.ts';

/** The state of pf in the kernel: lost at a reboot. The main ruleset is the anchor without a name. */
export interface Kernel {
  enabled: boolean;
  readonly rulesets: Map<string, Ruleset>;
  skip: ReadonlySet<string>;
  /** Holders of `-E` tokens: pf stays enabled until the last one is released. */
  readonly references: Map<string, { readonly pid: number; readonly process: string }>;
  /** Tables of a `load anchor` that `pfctl -n` has defined, as `anchor table` (INC-249). */
  readonly leftByDryRun: Set<string>;
}

export const newKernel = (): Kernel => ({
  enabled: false,
  rulesets: new Map(),
  skip: new Set(),
  references: new Map(),
  leftByDryRun: new Set(),
});

export const rulesetOf = (kernel: Kernel, anchor: string): Ruleset => kernel.rulesets.get(anchor) ?? emptyRuleset;

export const tableKey = (anchor: string, table: string): string => `${anchor} ${table}`;

const tablesOf = (entry: PfRule): readonly string[] =>
  [entry.match.from.address, entry.match.to.address].flatMap((address) =>
    address.kind === 'table' ? [address.name] : [],
  );

/** Tables that rules reference: these cannot be killed. */
export const referencedTables = (entries: readonly PfRule[]): ReadonlySet<string> => new Set(entries.flatMap(tablesOf));

/** Removes unreferenced tables unless they are `persist` (INC-246). An empty ruleset is no longer an anchor. */
export const putRuleset = (kernel: Kernel, anchor: string, ruleset: Ruleset): void => {
  const referenced = referencedTables(ruleset.entries);
  const tables = new Map([...ruleset.tables].filter(([name, { persist }]) => persist || referenced.has(name)));
  if (ruleset.entries.length === 0 && tables.size === 0) kernel.rulesets.delete(anchor);
  else kernel.rulesets.set(anchor, { entries: ruleset.entries, tables });
};

/** Whether anything is loaded there, or below. */
export const anchorExists = (kernel: Kernel, anchor: string): boolean =>
  anchor === '' || [...kernel.rulesets.keys()].some((name) => name === anchor || name.startsWith(`${anchor}/`));

/** The anchors directly below this one, sorted by name: the order of `parent/*`. */
export const childAnchors = (kernel: Kernel, parent: string): readonly string[] => {
  const prefix = parent === '' ? '' : `${parent}/`;
  const children = [...kernel.rulesets.keys()]
    .filter((name) => name !== '' && name.startsWith(prefix) && name !== parent)
    .map((name) => prefix + (name.slice(prefix.length).split('/')[0] ?? ''));
  return [...new Set(children)].sort();
};
