import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Machine, realPath } from '../machine.ts';
import type { Amfi } from './amfi.ts';
import { exConfig, type LastExit } from './exit-status.ts';
import type { JobDescription } from './job-description.ts';
import type { Domain } from './target.ts';

const worldWritable = 0o002;

/** Opens a job's log for appending, as that user. `undefined`: not permitted, which launchd does not report (INC-224). */
type OpenLog = (path: string, user: string) => number | undefined;

export const createOpenLog = (machine: Machine): OpenLog => {
  // The user as whom launchd created each log: all files really have one owner.
  const createdBy = new Map<string, string>();

  const mayWrite = (path: string, user: string): boolean => {
    const stats = statSync(path, { throwIfNoEntry: false });
    if (stats === undefined) return false;
    if (user === 'root' || (stats.mode & worldWritable) !== 0) return true;
    return (createdBy.get(path) ?? machine.ownerOf(path).user) === user;
  };

  return (path, user) => {
    const exists = statSync(path, { throwIfNoEntry: false }) !== undefined;
    if (!mayWrite(exists ? path : dirname(path), user)) return undefined;
    try {
      const fd = openSync(path, 'a', 0o644);
      if (!exists) createdBy.set(path, user);
      return fd;
    } catch {
      return undefined;
    }
  };
};

type Spawned =
  | { readonly kind: 'running'; readonly process: ChildProcess; readonly pid: number }
  | { readonly kind: 'ended at once'; readonly exit: LastExit };

export interface Launcher {
  readonly machine: Machine;
  readonly amfi: Amfi;
  readonly openLog: OpenLog;
}

const isFolder = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** The real path of a job's program, if it exists. */
export const programOf = (machine: Machine, { program }: JobDescription): string | undefined =>
  [realPath(machine, program)].find(isFile);

/** The search path of the property list, on this Mac's disk, followed by the tools that every process here needs. */
const searchPath = (machine: Machine, asked: string | undefined, given: string | undefined): string =>
  [...(asked?.split(':').map((folder) => realPath(machine, folder)) ?? []), given ?? ''].join(':');

const environmentOf = (machine: Machine, description: JobDescription, who: 'root' | 'user'): Record<string, string> => {
  const given = machine.environment(who);
  const { PATH: path, HOME: home, ...asked } = description.environment;
  return {
    ...given,
    ...asked,
    PATH: searchPath(machine, path, given['PATH']),
    ...(home === undefined ? {} : { HOME: realPath(machine, home) }),
    XPC_SERVICE_NAME: description.label,
  };
};

/**
 * Starts the real process of a job, in its own process group. Finds the program on this Mac's disk, and passes the arguments unchanged. All
 * files really belong to the user of the simulator, so UserName only decides what the Mac permits.
 */
export const spawnJob = (
  { machine, amfi, openLog }: Launcher,
  description: JobDescription,
  domain: Domain,
): Spawned => {
  const configError: Spawned = { kind: 'ended at once', exit: exConfig };
  const user = domain.kind === 'gui' ? machine.user.name : (description.userName ?? 'root');
  const program = programOf(machine, description);
  const cwd = realPath(machine, description.workingDirectory ?? '/');
  if (user !== 'root' && user !== machine.user.name) return configError;
  if (program === undefined || !isFolder(cwd)) return configError;

  const logs: number[] = [];
  const logFor = (path: string | undefined): number | 'ignore' | undefined => {
    if (path === undefined) return 'ignore';
    const fd = openLog(realPath(machine, path), user);
    if (fd !== undefined) logs.push(fd);
    return fd;
  };
  try {
    const stdout = logFor(description.standardOutPath);
    const stderr = logFor(description.standardErrorPath);
    if (stdout === undefined || stderr === undefined) return configError;
    if (!amfi.allowsRun(program)) return { kind: 'ended at once', exit: { kind: 'codesigning' } };
    const process = spawn(program, description.arguments.slice(1), {
      cwd,
      env: environmentOf(machine, description, user === 'root' ? 'root' : 'user'),
      stdio: ['ignore', stdout, stderr],
      detached: true,
    });
    // A missing pid already shows the error; an unhandled event would crash the simulator.
    process.once('error', () => {});
    return process.pid === undefined ? configError : { kind: 'running', process, pid: process.pid };
  } finally {
    for (const fd of logs) closeSync(fd);
  }
};
