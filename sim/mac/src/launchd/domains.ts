import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { sleep } from '@tartan/kube/clock';
import type { Console } from '../console/console.ts';
import type { BackgroundTasks } from './background-tasks.ts';
import type { LaunchdCode } from './codes.ts';
import type { DisabledServices } from './disabled-services.ts';
import { createJob, type Job } from './job.ts';
import { isTrusted, readJob } from './property-list-file.ts';
import { type Launcher, programOf } from './spawn-job.ts';
import { type Domain, domainName } from './target.ts';

/** The jobs that are loaded, by domain. Every answer is a code of launchctl; 0 is done. */
export interface Domains {
  exists(domain: Domain): boolean;
  jobs(domain: Domain): readonly Job[];
  all(): readonly Job[];
  /** Also a job that was booted out and whose process has not gone yet. */
  find(domain: Domain, label: string): Job | undefined;
  bootstrap(domain: Domain, file: string): 0 | LaunchdCode;
  bootout(domain: Domain, label: string): Promise<0 | LaunchdCode>;
  bootoutFile(domain: Domain, file: string): Promise<0 | LaunchdCode>;
  /** What launchd loads by itself: at boot, and when a session comes up. */
  loadFolders(domain: Domain, folders: readonly string[]): void;
  /** The session is over. Its jobs are out of the domain at once; resolves when their processes are gone. */
  tearDown(domain: Domain): Promise<void>;
  /** Power off. */
  killAll(): Promise<void>;
}

export interface DomainsOptions {
  readonly launcher: Launcher;
  readonly console: Console;
  readonly backgroundTasks: BackgroundTasks;
  readonly disabled: DisabledServices;
}

/** For how long after a bootout its label cannot be registered again: 3 to 5 s (INC-220). */
const drainTakes = 4_000;
/** How long bootout waits for the process before it answers 36. */
const bootoutWaits = 2_000;
/** A real process needs real time to end, however fast this Mac's clock runs. */
const leastBootoutWait = 300;

interface Leaving {
  readonly job: Job;
  readonly until: number;
}

const isGone = ({ job }: Leaving): boolean => job.view().pid === undefined;

export const createDomains = ({ launcher, console, backgroundTasks, disabled }: DomainsOptions): Domains => {
  const { machine } = launcher;
  const { clock, journal, faults } = machine;
  const loaded = new Map<string, Job>();
  const leaving = new Map<string, Leaving>();
  /** Of sessions that are over. */
  const ending = new Set<Job>();
  const keyOf = (domain: Domain, label: string): string => `${domainName(domain)}/${label}`;

  const exists = (domain: Domain): boolean =>
    domain.kind === 'system' || (domain.uid === machine.user.uid && console.session() === 'Aqua');

  const jobs = (domain: Domain): readonly Job[] =>
    [...loaded.values()].filter((job) => domainName(job.domain) === domainName(domain));

  const isDraining = (key: string): boolean => {
    const left = leaving.get(key);
    if (!left) return false;
    const draining = !isGone(left) || clock.monotonic() < left.until;
    if (!draining) leaving.delete(key);
    return draining;
  };

  /** The order of these questions is launchd's as far as it is known: the domain, the file, the label. */
  const load = (domain: Domain, file: string, by: 'bootstrap' | 'itself'): 0 | LaunchdCode => {
    if (!exists(domain)) return 125;
    if (!existsSync(file)) return 5;
    if (!isTrusted(machine, file, domain)) return 122;
    const description = readJob(file);
    if (!description || programOf(machine, description) === undefined) return 5;
    const { label } = description;
    const key = keyOf(domain, label);
    if (disabled.isDisabled(domain, label)) return 119;
    if (loaded.has(key)) return 37;
    if (isDraining(key)) return 5;
    const job = createJob({ launcher, backgroundTasks, description, domain, file });
    loaded.set(key, job);
    if (by === 'bootstrap') {
      backgroundTasks.register(label);
      journal.record('launchd.bootstrap', label);
    }
    job.load({ start: by === 'itself' || !faults.neverSpawned.has(label) });
    return 0;
  };

  const bootout = async (domain: Domain, label: string): Promise<0 | LaunchdCode> => {
    if (!exists(domain)) return 125;
    const key = keyOf(domain, label);
    const job = loaded.get(key);
    const left = leaving.get(key);
    if (!job) return left && !isGone(left) ? 36 : 3;
    loaded.delete(key);
    leaving.set(key, { job, until: clock.monotonic() + machine.pace(drainTakes) });
    journal.record('launchd.bootout', label);
    const gone = new AbortController();
    void job.unload().then(() => gone.abort());
    await sleep(clock, Math.max(machine.pace(bootoutWaits), leastBootoutWait), gone.signal);
    return gone.signal.aborted ? 0 : 36;
  };

  return {
    exists,
    jobs,
    all: () => [...loaded.values()],
    find: (domain, label) => {
      const key = keyOf(domain, label);
      const left = leaving.get(key);
      return loaded.get(key) ?? (left && !isGone(left) ? left.job : undefined);
    },
    bootstrap: (domain, file) => load(domain, file, 'bootstrap'),
    bootout,
    bootoutFile: async (domain, file) => {
      const description = readJob(file);
      const code = description && (await bootout(domain, description.label));
      // By its path, launchctl says no more than that.
      return code === undefined || code === 3 ? 5 : code;
    },
    loadFolders: (domain, folders) => {
      for (const folder of folders.filter((path) => existsSync(path))) {
        const files = readdirSync(folder).filter((name) => name.endsWith('.plist'));
        for (const name of files.sort()) load(domain, join(folder, name), 'itself');
      }
    },
    tearDown: async (domain) => {
      const over = jobs(domain);
      for (const { description } of over) loaded.delete(keyOf(domain, description.label));
      const unload = async (job: Job): Promise<void> => {
        ending.add(job);
        await job.unload();
        ending.delete(job);
      };
      await Promise.all(over.map(unload));
    },
    killAll: async () => {
      const all = [...loaded.values(), ...ending, ...[...leaving.values()].map(({ job }) => job)];
      loaded.clear();
      leaving.clear();
      await Promise.all(all.map((job) => job.kill()));
    },
  };
};
