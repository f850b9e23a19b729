import { emptyRuleset, type PfRule, type Ruleset } from './rule.ts';

/** What pf keeps in the kernel: gone with a reboot. The main ruleset is the anchor without a name. */
export interface Kernel {
  enabled: boolean;
  readonly rulesets: Map<string, Ruleset>;
  skip: ReadonlySet<string>;
  /** Who asked for pf by `-E`: it stays on until the last has given its token back. */
  readonly references: Map<string, { readonly pid: number; readonly process: string }>;
  /** Tables that `pfctl -n` defined by a `load anchor` and left half done, as `anchor table` (INC-249). */
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

/** Tables named by rules: these cannot be killed. */
export const referencedTables = (entries: readonly PfRule[]): ReadonlySet<string> => new Set(entries.flatMap(tablesOf));

/** A table that nobody names goes, unless it is `persist` (INC-246). A ruleset without anything in it is no anchor any more. */
export const putRuleset = (kernel: Kernel, anchor: string, ruleset: Ruleset): void => {
  const referenced = referencedTables(ruleset.entries);
  const tables = new Map([...ruleset.tables].filter(([name, { persist }]) => persist || referenced.has(name)));
  if (ruleset.entries.length === 0 && tables.size === 0) kernel.rulesets.delete(anchor);
  else kernel.rulesets.set(anchor, { entries: ruleset.entries, tables });
};

/** Whether something is loaded there, or below. */
export const anchorExists = (kernel: Kernel, anchor: string): boolean =>
  anchor === '' || [...kernel.rulesets.keys()].some((name) => name === anchor || name.startsWith(`${anchor}/`));

/** The anchors right below this one, by name: the order in which `parent/*` goes through them. */
export const childAnchors = (kernel: Kernel, parent: string): readonly string[] => {
  const prefix = parent === '' ? '' : `${parent}/`;
  const children = [...kernel.rulesets.keys()]
    .filter((name) => name !== '' && name.startsWith(prefix) && name !== parent)
    .map((name) => prefix + (name.slice(prefix.length).split('/')[0] ?? ''));
  return [...new Set(children)].sort();
};
