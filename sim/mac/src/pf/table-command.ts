import type { ToolAnswer } from '../machine.ts';
import { type Kernel, putRuleset, referencedTables, rulesetOf, tableKey } from './kernel.ts';
import { parseNetwork } from './network.ts';
import type { Table } from './rule.ts';

const plural = (count: number): string => `${count} table${count === 1 ? '' : 's'} deleted.\n`;

/** `pfctl -t TABLE -T COMMAND`. */
export const tableCommand = (
  kernel: Kernel,
  anchor: string,
  name: string,
  command: string,
  operands: readonly string[],
): ToolAnswer => {
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
      // Not while rules name it.
      const held = referencedTables(ruleset.entries).has(name);
      if (!held) put(undefined);
      kernel.leftByDryRun.delete(tableKey(anchor, name));
      return { code: 0, stderr: plural(held ? 0 : 1) };
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
