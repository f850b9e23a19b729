import { readFileSync } from 'node:fs';
import { realPath } from '../launchd/paths.ts';
import type { Machine, ToolAnswer, ToolCall } from '../machine.ts';
import { type PfctlArguments, parseArguments } from './arguments.ts';
import { flush } from './flush.ts';
import type { Kernel } from './kernel.ts';
import { loadRules } from './load.ts';
import { printRule } from './print-rule.ts';
import { show } from './show.ts';
import { tableCommand } from './table-command.ts';

/** On every run, also on good ones. */
const altq = 'No ALTQ support in kernel\nALTQ related functions disabled\n';
/** With every `-f`, also of an anchor. */
const flushWarning =
  'pfctl: Use of -f option, could result in flushing of rules\n' +
  'present in the main ruleset added by the system at startup.\n' +
  'See /etc/pf.conf for further details.\n\n';

const readable = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

/** Plays `pfctl`. It does things in its own order, whatever the order of the flags: disable, show, flush, tables, load, enable. */
export const pfctl = (machine: Machine, kernel: () => Kernel): ((call: ToolCall) => ToolAnswer) => {
  /** A number that nobody guesses, and that differs each time. */
  let lastToken = 17_000_000_000_000_000_000n + BigInt(machine.bootTime());

  const loadFile = (call: ToolCall, file: string, { anchor, flags }: PfctlArguments): ToolAnswer => {
    const source = file === '-' ? call.stdin.toString() : readable(realPath(machine, file, call.cwd));
    if (source === undefined) return { code: 1, stderr: `pfctl: ${file}: No such file or directory\n` };
    const dryRun = flags.has('n');
    if (dryRun && !call.asRoot && source.includes('load anchor')) {
      // Without the device there is nothing to define tables in: only the syntax is looked at.
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
    read: (path: string) => readable(realPath(machine, path, call.cwd)),
  });

  const disable = (): ToolAnswer => {
    if (!kernel().enabled) return { code: 1, stderr: 'pfctl: pf not enabled\n' };
    kernel().enabled = false;
    kernel().references.clear();
    machine.journal.record('pf.disabled');
    return { code: 0, stderr: 'pf disabled\n' };
  };

  const release = (token: string): ToolAnswer => {
    const { references } = kernel();
    if (!kernel().enabled) return { code: 1, stderr: 'pfctl: pf not enabled\n' };
    if (!references.delete(token)) return { code: 1, stderr: 'pfctl: Invalid argument\n' };
    if (references.size === 0) return disable();
    return {
      code: 0,
      stderr: `disable request successful. ${references.size} more pf enable reference(s) remaining, pf still enabled.\n`,
    };
  };

  const enable = (counted: boolean): ToolAnswer => {
    if (!counted && kernel().enabled) return { code: 1, stderr: 'pfctl: pf already enabled\n' };
    if (!kernel().enabled) machine.journal.record('pf.enabled');
    kernel().enabled = true;
    if (!counted) return { code: 0, stderr: 'pf enabled\n' };
    lastToken += 7919n;
    kernel().references.set(String(lastToken), { pid: 400 + kernel().references.size, process: 'pfctl' });
    return { code: 0, stderr: `pf enabled\nToken : ${lastToken}\n` };
  };

  return (call) => {
    const parsed = parseArguments(call.args);
    if ('refusal' in parsed) return { code: 1, stderr: parsed.refusal };
    const asked = parsed.arguments;
    const { anchor, flags, file } = asked;
    const warning = file === undefined ? '' : flushWarning;
    // `-n` never opens the device, so it is the one thing that needs no rights.
    if (!call.asRoot && !flags.has('n')) return { code: 1, stderr: 'pfctl: /dev/pf: Permission denied\n' };

    const asks: (() => ToolAnswer)[] = [];
    const dryRun = flags.has('n');
    if (flags.has('d') && !dryRun) asks.push(disable);
    if (asked.token !== undefined && !dryRun) asks.push(() => release(asked.token ?? ''));
    if (asked.show !== undefined && !dryRun)
      asks.push(() => ({ code: 0, ...show(kernel(), asked.show ?? '', anchor, flags.has('v')) }));
    if (asked.flush !== undefined && !dryRun)
      asks.push(() => {
        machine.journal.record('pf.flush', `${anchor === '' ? 'main' : anchor} ${asked.flush ?? ''}`);
        return { code: 0, stderr: flush(kernel(), anchor, asked.flush ?? '') };
      });
    if (asked.tableCommand !== undefined && !dryRun)
      asks.push(() =>
        asked.table === undefined
          ? { code: 1, stderr: 'pfctl: -T needs -t\n' }
          : tableCommand(kernel(), anchor, asked.table, asked.tableCommand ?? '', asked.operands),
      );
    if (file !== undefined) asks.push(() => loadFile(call, file, asked));
    if (!dryRun && (flags.has('e') || flags.has('E'))) asks.push(() => enable(flags.has('E')));

    let stdout = '';
    let stderr = warning + altq;
    for (const ask of asks) {
      const answer = ask();
      stdout += answer.stdout ?? '';
      stderr += answer.stderr ?? '';
      if (answer.code !== 0) return { code: answer.code, stdout, stderr };
    }
    return { code: 0, stdout, stderr };
  };
};
