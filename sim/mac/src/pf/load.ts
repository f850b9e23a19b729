import { type Kernel, putRuleset, rulesetOf, tableKey } from './kernel.ts';
import { type ParsedFile, parseRuleset } from './parse/ruleset.ts';
import { PfSyntaxError } from './parse/tokens.ts';
import type { PfRule, Ruleset } from './rule.ts';

export interface LoadRequest {
  /** `''` is the main ruleset. */
  readonly anchor: string;
  /** For error texts. */
  readonly file: string;
  readonly source: string;
  /** `-n`: checks only, or so the manual says. */
  readonly dryRun: boolean;
  /** Every definition of a table fails, as on a host that is already in that state (INC-246). */
  readonly busy: boolean;
  /** Reads a file of a `load anchor`; `undefined` if it cannot be read. */
  readonly read: (file: string) => string | undefined;
}

export type LoadOutcome =
  | { readonly kind: 'loaded'; readonly entries: readonly PfRule[] }
  | { readonly kind: 'rejected'; readonly text: string };

const notLoaded = 'pfctl: Syntax error in config file: pf rules not loaded\n';
const anchorBelow = (anchor: string, name: string): string => (anchor === '' ? name : `${anchor}/${name}`);
const resourceBusy = (file: string, line: number, table: string): PfSyntaxError =>
  new PfSyntaxError(file, line, `cannot define table ${table}: Resource busy`);

class CannotReadAnchor extends Error {}

/**
 * `pfctl -f`: all or nothing. Replaces one ruleset and those that it loads into anchors; other anchors keep their rules, but may lose the
 * anchor rule that evaluates them.
 * Errors with tables of a `load anchor` (INC-246, INC-248, INC-249): a table that is defined twice in one load is busy. `-n` really defines
 * them, so a `persist` table is busy in it, and any other is busy in the load that follows. Loading that anchor alone repairs it.
 */
export const loadRules = (kernel: Kernel, load: LoadRequest): LoadOutcome => {
  const staged = new Map<string, Ruleset>();
  const definedByLoads = new Set<string>();

  const stage = (anchor: string, { entries, tables }: ParsedFile): void => {
    staged.set(anchor, { entries, tables: new Map(tables.map(({ table }) => [table.name, table])) });
  };

  const stageLoads = (parent: string, { loads }: ParsedFile, depth: number): void => {
    for (const { anchor: name, file } of loads) {
      const anchor = anchorBelow(parent, name);
      const source = load.read(file);
      if (source === undefined || depth > 8) throw new CannotReadAnchor(file);
      const parsed = parseRuleset(file, source);
      for (const { table, line } of parsed.tables) {
        const key = tableKey(anchor, table.name);
        const persists = rulesetOf(kernel, anchor).tables.get(table.name)?.persist === true;
        if (load.busy || definedByLoads.has(key) || kernel.leftByDryRun.has(key) || (load.dryRun && persists))
          throw resourceBusy(file, line, table.name);
        definedByLoads.add(key);
      }
      stage(anchor, parsed);
      stageLoads(anchor, parsed, depth + 1);
    }
  };

  let top: ParsedFile;
  try {
    top = parseRuleset(load.file, load.source);
    const [table] = top.tables;
    if (load.busy && !load.dryRun && table !== undefined) throw resourceBusy(load.file, table.line, table.table.name);
    stage(load.anchor, top);
    stageLoads(load.anchor, top, 0);
  } catch (error) {
    if (error instanceof PfSyntaxError)
      return { kind: 'rejected', text: `${error.file}:${error.line}: ${error.message}\n${notLoaded}` };
    if (error instanceof CannotReadAnchor)
      return { kind: 'rejected', text: `pfctl: ${error.message}: No such file or directory\npfctl: load anchors\n` };
    throw error;
  }

  if (load.dryRun) {
    for (const key of definedByLoads) kernel.leftByDryRun.add(key);
    return { kind: 'loaded', entries: top.entries };
  }
  for (const [anchor, ruleset] of staged) {
    putRuleset(kernel, anchor, ruleset);
    for (const key of kernel.leftByDryRun) if (key.startsWith(`${anchor} `)) kernel.leftByDryRun.delete(key);
  }
  if (load.anchor === '') kernel.skip = new Set(top.skip);
  return { kind: 'loaded', entries: top.entries };
};
