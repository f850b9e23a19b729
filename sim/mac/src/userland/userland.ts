import { sleep as wait } from '@tartan/kube/clock';
import type { Machine, Subsystem, Tool } from '../machine.ts';
import { createDate } from './date.ts';
import { createDf, type Disk, diskSpaceTools } from './disk-space.ts';
import { createInstall } from './install.ts';
import { createChown, type Owners } from './owners.ts';
import { createStat } from './stat.ts';
import { createLockout, createSudo } from './sudo/sudo.ts';
import type { ShellTool } from './tool-calls.ts';

const sleepUnits: Readonly<Record<string, number>> = { '': 1, s: 1, m: 60, h: 3600, d: 86_400 };

/** sleep(1), at the pace of this Mac and by its clock. */
const createSleep =
  (machine: Machine, signal: () => AbortSignal): Tool =>
  async ({ args: [word = ''] }) => {
    const { number, unit = '' } = /^(?<number>\d+\.?\d*|\.\d+)(?<unit>[smhd]?)$/.exec(word)?.groups ?? {};
    if (number === undefined) return { code: 1, stderr: 'usage: sleep number[unit] [...]\n' };
    const milliseconds = machine.pace(Number(number) * (sleepUnits[unit] ?? 1) * 1000);
    if (milliseconds > 0) await wait(machine.clock, milliseconds, signal());
    return { code: 0 };
  };

/** reboot(8) and `shutdown -r now`: also kills the caller. Other forms of shutdown are not supported. */
const createShutdown = (restart: () => void): Readonly<Record<'shutdown' | 'reboot', Tool>> => {
  const goDown = (name: string, asRoot: boolean) => {
    if (!asRoot)
      return { code: 1, stderr: `${name}: ${name === 'reboot' ? 'Operation not permitted' : 'NOT super-user'}\n` };
    restart();
    return { code: 0 };
  };
  return {
    shutdown: ({ args, asRoot }) =>
      args[0] === '-r' && args[1] === 'now'
        ? goDown('shutdown', asRoot)
        : { code: 1, stderr: 'usage: shutdown [-] [-h [-u] [-n] | -r [-n] | -s | -k] time [warning-message ...]\n' },
    reboot: ({ asRoot }) => goDown('reboot', asRoot),
  };
};

interface Userland extends Omit<Subsystem, 'tools'> {
  readonly tools: Readonly<Record<string, Tool | ShellTool>>;
}

interface UserlandOptions {
  readonly owners: Owners;
  readonly disk: Disk;
  /** The real tool with which sudo starts commands. */
  readonly env: string;
  reboot(): void;
}

/** The general BSD part of a Mac: files and their owners, time, sudo. */
export const createUserland = (machine: Machine, { owners, disk, env, reboot }: UserlandOptions): Userland => {
  let lockout = createLockout(machine.clock);
  let off = new AbortController();
  return {
    tools: {
      ...createSudo(machine, () => lockout, env),
      ...createChown(owners, machine.user),
      ...diskSpaceTools(disk),
      ...createShutdown(reboot),
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
      // A reboot clears the count of wrong passwords.
      lockout = createLockout(machine.clock);
      off = new AbortController();
    },
    shutdown: async () => off.abort(),
  };
};
