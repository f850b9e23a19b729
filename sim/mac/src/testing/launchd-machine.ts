import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { type Console, createConsole } from '../console/console.ts';
import { encodeKcpassword } from '../console/kcpassword.ts';
import { createLaunchd, type Launchd, type LaunchdOptions } from '../launchd/launchd.ts';
import type { ToolResult } from '../machine.ts';
import type { PlistDict } from '../plist.ts';
import { plistText } from '../tools/plist-file.ts';
import { type MinimalMachine, minimalMachine, toolCall } from './minimal-machine.ts';

/** A clock that counts pending timers. */
const countingClock = (): ManualClock & { pending(): number } => {
  const clock = manualClock();
  const pending = new Set<object>();
  return {
    ...clock,
    pending: () => pending.size,
    after: (milliseconds, run) => {
      const entry = {};
      pending.add(entry);
      const cancel = clock.after(milliseconds, () => {
        pending.delete(entry);
        run();
      });
      return () => {
        pending.delete(entry);
        cancel();
      };
    },
  };
};

/** A Mac with launchd and a console, whose time only advances on demand. */
export interface LaunchdMachine {
  readonly machine: MinimalMachine;
  readonly clock: ReturnType<typeof countingClock>;
  readonly console: Console;
  readonly launchd: Launchd;
  launchctl(...args: string[]): Promise<ToolResult>;
  launchctlAsUser(...args: string[]): Promise<ToolResult>;
  tool(name: string, ...args: string[]): Promise<ToolResult>;
  /** Writes an executable of the Mac: a shell script. */
  program(path: string, script: string): void;
  /** Writes `/Library/LaunchDaemons/<label>.plist`, which runs `/opt/<label>`; returns its path. */
  daemon(label: string, keys?: PlistDict): string;
  /** The content of a file on the Mac; empty if missing. */
  read(path: string): string;
  /** Starts a GUI session of the user. */
  logIn(): void;
  stop(): Promise<void>;
}

/** Runs until it is killed. */
export const forever = 'echo ready\nexec sleep 1000';

export const launchdMachine = async (options: LaunchdOptions = {}): Promise<LaunchdMachine> => {
  const clock = countingClock();
  const machine = minimalMachine({ clock, pace: 1 });
  const console = createConsole(machine);
  const launchd = createLaunchd(machine, console, options);
  await console.boot();
  await launchd.boot();
  const call = async (name: string, args: string[], asRoot: boolean): Promise<ToolResult> => {
    const tool = launchd.tools[name];
    if (!tool) throw new Error(`no ${name} here`);
    return tool(toolCall(name, args, { asRoot }));
  };
  return {
    machine,
    clock,
    console,
    launchd,
    launchctl: (...args) => call('launchctl', args, true),
    launchctlAsUser: (...args) => call('launchctl', args, false),
    tool: (name, ...args) => call(name, args, true),
    program: (path, script) => machine.write(path, `#!/bin/sh\n${script}\n`, 0o755),
    daemon: (label, keys = {}) => {
      const path = `/Library/LaunchDaemons/${label}.plist`;
      machine.write(path, plistText({ Label: label, ProgramArguments: [`/opt/${label}`], RunAtLoad: true, ...keys }));
      return path;
    },
    read: (path) => {
      try {
        return readFileSync(machine.path(path), 'utf8');
      } catch {
        return '';
      }
    },
    logIn: () => {
      machine.write('/Library/Preferences/com.apple.loginwindow.plist', plistText({ autoLoginUser: 'm1' }));
      machine.write('/etc/kcpassword', encodeKcpassword('the true one'));
      console.loginwindow.kickstart({ kill: true });
      clock.advance(2_000);
    },
    stop: async () => {
      await launchd.shutdown();
      await console.shutdown();
      machine.remove();
    },
  };
};

/** Whether a process runs. A zombie does not. */
export const isAlive = (pid: number | undefined): boolean => {
  if (pid === undefined) return false;
  const { stdout } = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' });
  return stdout.trim() !== '' && !stdout.trim().startsWith('Z');
};
