import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sleep } from '@tartan/kube/clock';
import type { Console } from '../console/console.ts';
import type { Machine } from '../machine.ts';
import { replaceFile } from '../replace-file.ts';
import { readDict, writeDict } from '../tools/plist-file.ts';
import { isTrusted, readJob } from './job-description.ts';
import { createJob, type Job } from './job.ts';
import { type Launcher, programOf } from './spawn-job.ts';
import { type Domain, domainName, type LaunchdCode } from './target.ts';

/**
 * Background Task Management: after many registrations of one label macOS ignores its KeepAlive (INC-09). The limit is not documented, so
 * it is an option of launchd. The count is on the disk, so only a reinstall resets it.
 */
export interface BackgroundTasks {
  register(label: string): void;
  /** Whether launchd restarts its process after it ended. */
  honoursKeepAlive(label: string): boolean;
}

const registrationsFile = '/var/db/com.apple.backgroundtaskmanagement/registrations.json';

export const createBackgroundTasks = (machine: Machine, cap: number): BackgroundTasks => {
  const read = (): Record<string, number> => {
    try {
      return JSON.parse(readFileSync(machine.path(registrationsFile), 'utf8')) as Record<string, number>;
    } catch {
      return {};
    }
  };
  return {
    register: (label) => {
      const counts = read();
      mkdirSync(dirname(machine.path(registrationsFile)), { recursive: true });
      replaceFile(machine.path(registrationsFile), JSON.stringify({ ...counts, [label]: (counts[label] ?? 0) + 1 }));
    },
    honoursKeepAlive: (label) => (read()[label] ?? 0) <= cap,
  };
};

/** The flags that `launchctl disable` and `enable` set. They survive the property list and reboots. */
export interface DisabledServices {
  isDisabled(domain: Domain, label: string): boolean;
  set(domain: Domain, label: string, disabled: boolean): void;
  all(domain: Domain): Readonly<Record<string, boolean>>;
}

const fileOf = (domain: Domain): string =>
  `/var/db/com.apple.xpc.launchd/disabled${domain.kind === 'system' ? '' : `.${domain.uid}`}.plist`;

export const createDisabledServices = (machine: Machine): DisabledServices => {
  const all = (domain: Domain): Record<string, boolean> => {
    const flags = Object.entries(readDict(machine.path(fileOf(domain))) ?? {});
    return Object.fromEntries(flags.map(([label, flag]) => [label, flag === true]));
  };
  return {
    all,
    isDisabled: (domain, label) => all(domain)[label] === true,
    set: (domain, label, disabled) => {
      writeDict(machine, machine.path(fileOf(domain)), { ...all(domain), [label]: disabled });
    },
  };
};

/** The loaded jobs, by domain. Results are exit codes of launchctl; 0 is success. */
export interface Domains {
  exists(domain: Domain): boolean;
  jobs(domain: Domain): readonly Job[];
  all(): readonly Job[];
  /** Also finds a job that was booted out and whose process still runs. */
  find(domain: Domain, label: string): Job | undefined;
  bootstrap(domain: Domain, file: string): 0 | LaunchdCode;
  bootout(domain: Domain, label: string): Promise<0 | LaunchdCode>;
  bootoutFile(domain: Domain, file: string): Promise<0 | LaunchdCode>;
  /** What launchd loads itself: at boot, and when a session starts. */
  loadFolders(domain: Domain, folders: readonly string[]): void;
  /** Ends a session. Its jobs leave the domain at once; resolves when their processes are gone. */
  tearDown(domain: Domain): Promise<void>;
  /** Power off. */
  killAll(): Promise<void>;
}

interface DomainsOptions {
  readonly launcher: Launcher;
  readonly console: Console;
  readonly backgroundTasks: BackgroundTasks;
  readonly disabled: DisabledServices;
}

/** How long after a bootout its label cannot be registered again: 3 to 5 s (INC-220). */
const drainMs = 4_000;
/** How long bootout waits for the process before it fails with 36. */
const bootoutTimeoutMs = 2_000;
/** Real processes need real time to end, however fast this Mac's clock runs. */
const minBootoutTimeoutMs = 300;

interface DrainingJob {
  readonly job: Job;
  readonly until: number;
}

const isGone = ({ job }: DrainingJob): boolean => job.view().pid === undefined;

export const createDomains = ({ launcher, console, backgroundTasks, disabled }: DomainsOptions): Domains => {
  const { machine } = launcher;
  const { clock, journal, faults } = machine;
  const loaded = new Map<string, Job>();
  const drainingJobs = new Map<string, DrainingJob>();
  /** Jobs of ended sessions. */
  const ending = new Set<Job>();
  const keyOf = (domain: Domain, label: string): string => `${domainName(domain)}/${label}`;

  const exists = (domain: Domain): boolean =>
    domain.kind === 'system' || (domain.uid === machine.user.uid && console.session() === 'Aqua');

  const jobs = (domain: Domain): readonly Job[] =>
    [...loaded.values()].filter((job) => domainName(job.domain) === domainName(domain));

  const isDraining = (key: string): boolean => {
    const left = drainingJobs.get(key);
    if (!left) return false;
    const draining = !isGone(left) || clock.monotonic() < left.until;
    if (!draining) drainingJobs.delete(key);
    return draining;
  };

  /** The checks are in the order of launchd, as far as it is known: the domain, the file, the label. */
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
    const left = drainingJobs.get(key);
    if (!job) return left && !isGone(left) ? 36 : 3;
    loaded.delete(key);
    drainingJobs.set(key, { job, until: clock.monotonic() + machine.pace(drainMs) });
    journal.record('launchd.bootout', label);
    const gone = new AbortController();
    void job.unload().then(() => gone.abort());
    await sleep(clock, Math.max(machine.pace(bootoutTimeoutMs), minBootoutTimeoutMs), gone.signal);
    return gone.signal.aborted ? 0 : 36;
  };

  return {
    exists,
    jobs,
    all: () => [...loaded.values()],
    find: (domain, label) => {
      const key = keyOf(domain, label);
      const left = drainingJobs.get(key);
      return loaded.get(key) ?? (left && !isGone(left) ? left.job : undefined);
    },
    bootstrap: (domain, file) => load(domain, file, 'bootstrap'),
    bootout,
    bootoutFile: async (domain, file) => {
      const description = readJob(file);
      const code = description && (await bootout(domain, description.label));
      // By path, launchctl is less specific.
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
      const all = [...loaded.values(), ...ending, ...[...drainingJobs.values()].map(({ job }) => job)];
      loaded.clear();
      drainingJobs.clear();
      await Promise.all(all.map((job) => job.kill()));
    },
  };
};
