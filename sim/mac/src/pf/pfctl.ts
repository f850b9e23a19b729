import { readFileSync } from 'node:fs';
import { type Machine, realPath, type ToolCall, type ToolResult } from '../machine.ts';
import { flush, show, tableCommand } from './commands.ts';
import type { Kernel } from './kernel.ts';
import { loadRules } from './load.ts';
import { printRule } from './rule.ts';

/** The options of pfctl, as its `getopt` parses them: flags may be joined (`-sr`, `-vnf FILE`). */
interface PfctlArguments {
  readonly anchor: string;
  readonly show?: string;
  readonly flush?: string;
  readonly table?: string;
  readonly tableCommand?: string;
  readonly file?: string;
  readonly token?: string;
  readonly flags: ReadonlySet<string>;
  readonly operands: readonly string[];
}

const flagsWithValue = 'aDfFikKopstTwxX';
const flagsWithoutValue = 'AdeEghlmnNOPqrRSvz';
/** An abbreviation means the first of these that starts with it. */
const modifiers = {
  s: [
    'nat',
    'queue',
    'rules',
    'Anchors',
    'Sources',
    'states',
    'info',
    'Interfaces',
    'labels',
    'timeouts',
    'memory',
    'Tables',
    'osfp',
    'References',
    'dummynet',
    'all',
  ],
  F: ['nat', 'queue', 'rules', 'Sources', 'states', 'info', 'Tables', 'osfp', 'dummynet', 'all'],
  T: ['kill', 'flush', 'add', 'delete', 'load', 'replace', 'show', 'test', 'zero', 'expire'],
};

const usage = 'usage: pfctl [-AdeghmNnOqRrvz] [-a anchor] [-D macro=value] [-F modifier]\n';

/** `undefined` in `arguments`: the text says why, and pfctl exits with 1. */
const parsePfctlArguments = (
  words: readonly string[],
): { readonly arguments: PfctlArguments } | { readonly refusal: string } => {
  const values: Record<string, string> = {};
  const flags = new Set<string>();
  const rest = [...words];
  while (rest[0]?.startsWith('-') === true && rest[0] !== '-') {
    const group = (rest.shift() ?? '').slice(1);
    if (group === '-') break;
    for (let at = 0; at < group.length; at += 1) {
      const flag = group.charAt(at);
      if (flagsWithValue.includes(flag)) {
        const value = at + 1 < group.length ? group.slice(at + 1) : rest.shift();
        if (value === undefined) return { refusal: `pfctl: option requires an argument -- ${flag}\n${usage}` };
        values[flag] = value;
        break;
      }
      if (!flagsWithoutValue.includes(flag)) return { refusal: `pfctl: illegal option -- ${flag}\n${usage}` };
      flags.add(flag);
    }
  }
  for (const flag of ['s', 'F', 'T'] as const) {
    const value = values[flag];
    if (value === undefined) continue;
    const full = modifiers[flag].find((name) => value !== '' && name.startsWith(value));
    if (full === undefined) return { refusal: `pfctl: Unknown option '${value}' for -${flag}\n${usage}` };
    values[flag] = full;
  }
  const optional = (key: string, flag: string): object => (values[flag] === undefined ? {} : { [key]: values[flag] });
  return {
    arguments: {
      anchor: values['a'] ?? '',
      ...optional('show', 's'),
      ...optional('flush', 'F'),
      ...optional('table', 't'),
      ...optional('tableCommand', 'T'),
      ...optional('file', 'f'),
      ...optional('token', 'X'),
      flags,
      operands: rest,
    },
  };
};

/** Printed on every run, also on success. */
const altq = 'No ALTQ support in kernel\nALTQ related functions disabled\n';
/** Printed with every `-f`, also for an anchor. */
const flushWarning =
  'pfctl: Use of -f option, could result in flushing of rules\n' +
  'present in the main ruleset added by the system at startup.\n' +
  'See /etc/pf.conf for further details.\n\n';

const readText = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Simulates `pfctl`. It has its own order, whatever the order of the flags: disable, show, flush, tables, load, enable. */
export const pfctl = (machine: Machine, kernel: () => Kernel): ((call: ToolCall) => ToolResult) => {
  /** Different each time, so that no script can hard-code it. */
  let lastToken = 17_000_000_000_000_000_000n + BigInt(machine.bootTime());

  const loadFile = (call: ToolCall, file: string, { anchor, flags }: PfctlArguments): ToolResult => {
    const source = file === '-' ? call.stdin.toString() : readText(realPath(machine, file, call.cwd));
    if (source === undefined) return { code: 1, stderr: `pfctl: ${file}: No such file or directory\n` };
    const dryRun = flags.has('n');
    if (dryRun && !call.asRoot && source.includes('load anchor')) {
      // Without root `-n` has no device to define tables in: only the syntax is checked.
      const outcome = loadRules({ ...kernel(), leftByDryRun: new Set() }, loadOf(call, file, source, anchor, true));
      return outcome.kind === 'rejected' ? { code: 1, stderr: outcome.text } : { code: 0 };
    }
    const outcome = loadRules(kernel(), loadOf(call, file, source, anchor, dryRun));
    if (outcome.kind === 'rejected') {
      if (!dryRun) machine.journal.record('pf.rejected', anchor === '' ? 'main' : anchor);
      return { code: 1, stderr: outcome.text };
    }
    if (!dryRun) machine.journal.record('pf.load', anchor === '' ? 'main' : anchor);
    return { code: 0, stdout: flags.has('v') ? outcome.entries.map((entry) => `${printRule(entry)}\n`).join('') : '' };
  };
  const loadOf = (call: ToolCall, file: string, source: string, anchor: string, dryRun: boolean) => ({
    anchor,
    file: file === '-' ? 'stdin' : file,
    source,
    dryRun,
    busy: machine.faults.pfBusy,
    read: (path: string) => readText(realPath(machine, path, call.cwd)),
  });

  const disable = (): ToolResult => {
    if (!kernel().enabled) return { code: 1, stderr: 'pfctl: pf not enabled\n' };
    kernel().enabled = false;
    kernel().references.clear();
    machine.journal.record('pf.disabled');
    return { code: 0, stderr: 'pf disabled\n' };
  };

  const release = (token: string): ToolResult => {
    const { references } = kernel();
    if (!kernel().enabled) return { code: 1, stderr: 'pfctl: pf not enabled\n' };
    if (!references.delete(token)) return { code: 1, stderr: 'pfctl: Invalid argument\n' };
    if (references.size === 0) return disable();
    return {
      code: 0,
      stderr: `disable request successful. ${references.size} more pf enable reference(s) remaining, pf still enabled.\n`,
    };
  };

  const enable = (counted: boolean): ToolResult => {
    if (!counted && kernel().enabled) return { code: 1, stderr: 'pfctl: pf already enabled\n' };
    if (!kernel().enabled) machine.journal.record('pf.enabled');
    kernel().enabled = true;
    if (!counted) return { code: 0, stderr: 'pf enabled\n' };
    lastToken += 7919n;
    kernel().references.set(String(lastToken), { pid: 400 + kernel().references.size, process: 'pfctl' });
    return { code: 0, stderr: `pf enabled\nToken : ${lastToken}\n` };
  };

  return (call) => {
    const parsed = parsePfctlArguments(call.args);
    if ('refusal' in parsed) return { code: 1, stderr: parsed.refusal };
    const asked = parsed.arguments;
    const { anchor, flags, file } = asked;
    const warning = file === undefined ? '' : flushWarning;
    // `-n` never opens the device, so it needs no rights.
    if (!call.asRoot && !flags.has('n')) return { code: 1, stderr: 'pfctl: /dev/pf: Permission denied\n' };

    const actions: (() => ToolResult)[] = [];
    const dryRun = flags.has('n');
    if (flags.has('d') && !dryRun) actions.push(disable);
    if (asked.token !== undefined && !dryRun) actions.push(() => release(asked.token ?? ''));
    if (asked.show !== undefined && !dryRun)
      actions.push(() => ({ code: 0, ...show(kernel(), asked.show ?? '', anchor, flags.has('v')) }));
    if (asked.flush !== undefined && !dryRun)
      actions.push(() => {
        machine.journal.record('pf.flush', `${anchor === '' ? 'main' : anchor} ${asked.flush ?? ''}`);
        return { code: 0, stderr: flush(kernel(), anchor, asked.flush ?? '') };
      });
    if (asked.tableCommand !== undefined && !dryRun)
      actions.push(() =>
        asked.table === undefined
          ? { code: 1, stderr: 'pfctl: -T needs -t\n' }
          : tableCommand(kernel(), anchor, asked.table, asked.tableCommand ?? '', asked.operands),
      );
    if (file !== undefined) actions.push(() => loadFile(call, file, asked));
    if (!dryRun && (flags.has('e') || flags.has('E'))) actions.push(() => enable(flags.has('E')));

    let stdout = '';
    let stderr = warning + altq;
    for (const ask of actions) {
      const answer = ask();
      stdout += answer.stdout ?? '';
      stderr += answer.stderr ?? '';
      if (answer.code !== 0) return { code: answer.code, stdout, stderr };
    }
    return { code: 0, stdout, stderr };
  };
};
