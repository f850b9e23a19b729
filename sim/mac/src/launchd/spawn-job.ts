import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, openSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Machine, realPath } from '../machine.ts';
import type { Amfi } from './amfi.ts';
import { exConfig, type LastExit } from './exit-status.ts';
import type { JobDescription } from './job-description.ts';
import type { Domain } from './target.ts';

const worldWritable = 0o002;

/** Opens a job's log for appending, as that user. `undefined`: it may not, and launchd does not say so (INC-224). */
type OpenLog = (path: string, user: string) => number | undefined;

export const createOpenLog = (machine: Machine): OpenLog => {
  // A file belongs to whoever made it; nobody else on this Mac knows on whose behalf launchd did.
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

/** Where the program of a job lies, if it does. */
export const programOf = (machine: Machine, { program }: JobDescription): string | undefined =>
  [realPath(machine, program)].find(isFile);

/** The search path of the property list, on this Mac's disk; behind it the tools that every process here needs. */
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
 * Really starts the process of a job, in a process group of its own. Its program is looked up on this Mac's disk; the arguments are
 * handed over as they are. All files really belong to whoever runs the simulator, so UserName decides only what the Mac lets it do.
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
    // Said again by an event, which nobody else listens to.
    process.once('error', () => {});
    return process.pid === undefined ? configError : { kind: 'running', process, pid: process.pid };
  } finally {
    for (const fd of logs) closeSync(fd);
  }
};
