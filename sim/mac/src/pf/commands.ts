import type { ToolResult } from '../machine.ts';
import {
  anchorExists,
  childAnchors,
  type Kernel,
  putRuleset,
  referencedTables,
  rulesetOf,
  tableKey,
} from './kernel.ts';
import { parseNetwork } from './network.ts';
import { printRule, type Section, sectionOf, type Table } from './rule.ts';

const lines = (texts: readonly string[]): string => texts.map((text) => `${text}\n`).join('');

const rulesOf = (kernel: Kernel, anchor: string, ...sections: readonly Section[]): string =>
  lines(
    sections.flatMap((section) =>
      rulesetOf(kernel, anchor)
        .entries.filter((entry) => sectionOf(entry) === section)
        .map(printRule),
    ),
  );

const allBelow = (kernel: Kernel, parent: string): readonly string[] =>
  childAnchors(kernel, parent).flatMap((child) => [child, ...allBelow(kernel, child)]);

/** `pfctl -s`: text for standard output, or the kernel's error for an anchor that was never loaded. */
export const show = (
  kernel: Kernel,
  modifier: string,
  anchor: string,
  verbose: boolean,
): { readonly stdout: string; readonly stderr: string } => {
  const output = (stdout: string) => ({ stdout, stderr: '' });
  const isRules = modifier === 'rules' || modifier === 'nat' || modifier === 'dummynet';
  if (isRules && !anchorExists(kernel, anchor))
    return { stdout: '', stderr: 'pfctl: DIOCGETRULES: Invalid argument\n' };
  switch (modifier) {
    case 'rules':
      return output(rulesOf(kernel, anchor, 'scrub', 'filter'));
    case 'nat':
      return output(rulesOf(kernel, anchor, 'nat', 'binat', 'rdr'));
    case 'dummynet':
      return output(rulesOf(kernel, anchor, 'dummynet'));
    case 'Anchors':
      return output(
        lines((verbose ? allBelow(kernel, anchor) : childAnchors(kernel, anchor)).map((name) => `  ${name}`)),
      );
    case 'Tables':
      return output(lines([...rulesetOf(kernel, anchor).tables.keys()].sort()));
    case 'info':
      return output(`Status: ${kernel.enabled ? 'Enabled' : 'Disabled'} for 0 days 00:00:01           Debug: Urgent\n`);
    case 'References': {
      const head = 'TOKENS:\nPID      Process Name                 TOKEN                    TIMESTAMP\n';
      const rows = [...kernel.references].map(
        ([token, { pid, process }]) =>
          `${String(pid).padEnd(9)}${process.padEnd(29)}${token.padEnd(25)}0 days 00:00:01`,
      );
      return output(rows.length === 0 ? 'No TOKENS.\n' : head + lines(rows));
    }
    default:
      return output('');
  }
};

const flushedSections: Readonly<Record<string, readonly Section[]>> = {
  rules: ['scrub', 'filter'],
  nat: ['nat', 'binat', 'rdr'],
  dummynet: ['dummynet'],
  Tables: [],
  all: ['scrub', 'filter', 'nat', 'binat', 'rdr', 'dummynet'],
};

/** `pfctl -F`: flushes the main ruleset or one anchor, never what is below. Tables with `persist` survive even `all` (INC-246). */
export const flush = (kernel: Kernel, anchor: string, modifier: string): string => {
  const ruleset = rulesetOf(kernel, anchor);
  const sections = flushedSections[modifier] ?? [];
  const entries = ruleset.entries.filter((entry) => !sections.includes(sectionOf(entry)));
  putRuleset(kernel, anchor, { entries, tables: ruleset.tables });
  const deleted = ruleset.tables.size - rulesetOf(kernel, anchor).tables.size;
  if (modifier === 'all')
    return `rules cleared\nnat cleared\ndummynet cleared\n${deleted} tables deleted.\n${anchor === '' ? '0 states cleared\nsource tracking entries cleared\npf: statistics cleared\npf: interface flags reset\n' : ''}`;
  return modifier === 'Tables' ? `${deleted} tables deleted.\n` : `${modifier} cleared\n`;
};

const deletedText = (count: number): string => `${count} table${count === 1 ? '' : 's'} deleted.\n`;

/** `pfctl -t TABLE -T COMMAND`. */
export const tableCommand = (
  kernel: Kernel,
  anchor: string,
  name: string,
  command: string,
  operands: readonly string[],
): ToolResult => {
  const ruleset = rulesetOf(kernel, anchor);
  const table = ruleset.tables.get(name);
  const put = (changed: Table | undefined): void => {
    const tables = new Map(ruleset.tables);
    if (changed === undefined) tables.delete(name);
    else tables.set(name, changed);
    putRuleset(kernel, anchor, { ...ruleset, tables });
  };
  if (table === undefined && command !== 'add') return { code: 1, stderr: 'pfctl: Table does not exist.\n' };
  const current: Table = table ?? { name, persist: true, addresses: [] };
  const given = operands.map((text) => ({
    not: text.startsWith('!'),
    network: parseNetwork(text.replace(/^!\s*/, '')),
  }));
  const bad = operands[given.findIndex(({ network }) => network === undefined)];
  if (bad !== undefined) return { code: 1, stderr: `no IP address found for ${bad}\n` };
  const networks = given.flatMap(({ not, network }) => (network === undefined ? [] : [{ not, network }]));
  const has = (text: string): boolean => current.addresses.some(({ network }) => network.text === text);

  switch (command) {
    case 'show':
      return {
        code: 0,
        stdout: current.addresses.map(({ not, network }) => `  ${not ? '!' : ' '}${network.text}\n`).join(''),
      };
    case 'kill': {
      // Not while rules reference it.
      const held = referencedTables(ruleset.entries).has(name);
      if (!held) put(undefined);
      kernel.leftByDryRun.delete(tableKey(anchor, name));
      return { code: 0, stderr: deletedText(held ? 0 : 1) };
    }
    case 'add': {
      const added = networks.filter(({ network }) => !has(network.text));
      put({ ...current, addresses: [...current.addresses, ...added] });
      return {
        code: 0,
        stderr: `${table === undefined ? '1 table created.\n' : ''}${added.length}/${networks.length} addresses added.\n`,
      };
    }
    case 'delete': {
      const gone = new Set(networks.map(({ network }) => network.text));
      const left = current.addresses.filter(({ network }) => !gone.has(network.text));
      put({ ...current, addresses: left });
      return { code: 0, stderr: `${current.addresses.length - left.length}/${networks.length} addresses deleted.\n` };
    }
    case 'flush':
      put({ ...current, addresses: [] });
      return { code: 0, stderr: `${current.addresses.length} addresses deleted.\n` };
    default:
      return { code: 1, stderr: `pfctl: -T ${command} is not played by this Mac\n` };
  }
};
