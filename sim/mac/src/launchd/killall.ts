import { basename } from 'node:path';
import type { Console } from '../console/console.ts';
import type { Machine, Tool, ToolAnswer } from '../machine.ts';
import type { Domains } from './domains.ts';
import { signalOf } from './signal-name.ts';

/** Daemons of macOS that scripts send signals to, and that come back by themselves without anything seen from here. */
const others = new Set(['cfprefsd', 'mDNSResponder', 'mDNSResponderHelper', 'opendirectoryd']);

/** How one process name is reached. False: nobody has that name. */
type Reach = (name: string, signal: NodeJS.Signals) => boolean;

/** killall(1): loginwindow, WindowServer, a few daemons of macOS, and whatever launchd runs. */
export const createKillall = (machine: Machine, console: Console, domains: Domains): Tool => {
  const reach: Reach = (name, signal) => {
    if (others.has(name)) return true;
    if (name === 'loginwindow') return console.loginwindow.signal(signal);
    if (name === 'WindowServer') {
      console.end();
      return true;
    }
    const named = domains.all().filter(({ description }) => basename(description.program) === name);
    return named.filter((job) => job.signal(signal)).length > 0;
  };

  const nobody = (asRoot: boolean): ToolAnswer => ({
    code: 1,
    stderr: `No matching processes ${asRoot ? '' : 'belonging to you '}were found\n`,
  });

  return ({ args, asRoot }) => {
    const names = args.filter((arg) => !arg.startsWith('-'));
    const flag = args.find((arg) => arg.startsWith('-'));
    const signal = signalOf(flag?.slice(1) ?? 'TERM');
    if (names.length === 0 || !signal) return { code: 1, stderr: 'usage: killall [-SIGNAL] name ...\n' };
    // What the user owns of these is nothing.
    if (!asRoot) return nobody(asRoot);
    machine.journal.record('killall', args.join(' '));
    return names.map((name) => reach(name, signal)).includes(true) ? { code: 0 } : nobody(asRoot);
  };
};
