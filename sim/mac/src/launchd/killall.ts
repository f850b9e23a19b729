import { basename } from 'node:path';
import type { Console } from '../console/console.ts';
import type { Machine, Tool, ToolResult } from '../machine.ts';
import type { Domains } from './domains.ts';
import { signalOf } from './exit-status.ts';

/** Daemons of macOS that scripts signal. macOS restarts them, with no effect here. */
const macosDaemons = new Set(['cfprefsd', 'mDNSResponder', 'mDNSResponderHelper', 'opendirectoryd']);

/** Sends a signal to a process name. False: no such process. */
type SignalByName = (name: string, signal: NodeJS.Signals) => boolean;

/** killall(1): loginwindow, WindowServer, a few daemons of macOS, and the jobs of launchd. */
export const createKillall = (machine: Machine, console: Console, domains: Domains): Tool => {
  const signalByName: SignalByName = (name, signal) => {
    if (macosDaemons.has(name)) return true;
    if (name === 'loginwindow') return console.loginwindow.signal(signal);
    if (name === 'WindowServer') {
      console.end();
      return true;
    }
    const named = domains.all().filter(({ description }) => basename(description.program) === name);
    return named.filter((job) => job.signal(signal)).length > 0;
  };

  const noMatch = (asRoot: boolean): ToolResult => ({
    code: 1,
    stderr: `No matching processes ${asRoot ? '' : 'belonging to you '}were found\n`,
  });

  return ({ args, asRoot }) => {
    const names = args.filter((arg) => !arg.startsWith('-'));
    const flag = args.find((arg) => arg.startsWith('-'));
    const signal = signalOf(flag?.slice(1) ?? 'TERM');
    if (names.length === 0 || !signal) return { code: 1, stderr: 'usage: killall [-SIGNAL] name ...\n' };
    // None of these processes belongs to the user.
    if (!asRoot) return noMatch(asRoot);
    machine.journal.record('killall', args.join(' '));
    return names.map((name) => signalByName(name, signal)).includes(true) ? { code: 0 } : noMatch(asRoot);
  };
};
