import type { Disk } from '../disk.ts';
import type { Machine, Part, Tool } from '../machine.ts';
import { createChown } from './chown.ts';
import { createDate } from './date.ts';
import { createDf } from './df.ts';
import { diskTools } from './full-disk.ts';
import { createInstall } from './install.ts';
import { createLockout } from './lockout.ts';
import type { Owners } from './owners.ts';
import { createShutdown } from './shutdown.ts';
import { createSleep } from './sleep.ts';
import { createStat } from './stat.ts';
import { createSudo } from './sudo.ts';
import type { ShellTool } from './tool-calls.ts';

export interface UserlandPart extends Omit<Part, 'tools'> {
  readonly tools: Readonly<Record<string, Tool | ShellTool>>;
}

export interface UserlandOptions {
  readonly owners: Owners;
  readonly disk: Disk;
  /** The real tool with which sudo starts commands. */
  readonly env: string;
  restart(): void;
}

/** What a Mac has as any BSD: files and their owners, time, sudo. */
export const createUserland = (machine: Machine, { owners, disk, env, restart }: UserlandOptions): UserlandPart => {
  let lockout = createLockout(machine.clock);
  let off = new AbortController();
  return {
    tools: {
      ...createSudo(machine, () => lockout, env),
      ...createChown(owners, machine.user),
      ...diskTools(disk),
      ...createShutdown(restart),
      'trace.argv': ({ args }) => {
        machine.journal.record('argv', args.join(' '));
        return { shell: ':' };
      },
      date: createDate(machine),
      df: createDf(disk),
      install: createInstall(owners),
      sleep: createSleep(machine, () => off.signal),
      stat: createStat(machine),
    },
    boot: async () => {
      // A reboot clears the tally of wrong passwords.
      lockout = createLockout(machine.clock);
      off = new AbortController();
    },
    shutdown: async () => off.abort(),
  };
};
