import { killGroup, killGroupAtExit } from '../processes.ts';
import type { BackgroundTasks } from './domains.ts';
import { exitText, type LastExit } from './exit-status.ts';
import { type JobDescription, startsWhenLoaded } from './job-description.ts';
import { type Launcher, spawnJob } from './spawn-job.ts';
import type { Domain } from './target.ts';

/** What `launchctl print` shows of a job. */
export interface JobView {
  readonly state: 'running' | 'not running' | 'spawn scheduled' | 'SIGTERMed';
  readonly pid?: number;
  readonly runs: number;
  /** As `launchctl print` words it. */
  readonly lastExit?: string;
  /** The whole argv at the time when launchd loaded it. */
  readonly arguments: readonly string[];
}

/** A loaded job with at most one process. */
export interface Job {
  readonly description: JobDescription;
  readonly domain: Domain;
  /** Real path of its property list. */
  readonly file: string;
  view(): JobView;
  lastExit(): LastExit | undefined;
  /** Called after loading: starts the job if its property list asks for that. */
  load(options: { start: boolean }): void;
  /** `kickstart`: starts it at once, without throttling. */
  start(): void;
  /** `kickstart -k`. Resolves when the old process is gone and the new one runs. */
  restart(): Promise<void>;
  /** To its main process. False: not running. */
  signal(signal: NodeJS.Signals): boolean;
  /** Permanently: SIGTERM, and SIGKILL after the exit timeout. Resolves when the process is gone. */
  unload(): Promise<void>;
  /** Permanently and at once: power off. */
  kill(): Promise<void>;
}

export interface JobOptions {
  readonly launcher: Launcher;
  readonly backgroundTasks: BackgroundTasks;
  readonly description: JobDescription;
  readonly domain: Domain;
  readonly file: string;
}

/** Real processes need real time to end, however fast this Mac's clock runs. */
const minExitTimeoutMs = 500;
/** After its start, by a Mac's clock: well within the five seconds after which a process counts as up. */
const crashAfterMs = 1_000;

export const createJob = ({ launcher, backgroundTasks, description, domain, file }: JobOptions): Job => {
  const { clock, pace, journal, faults } = launcher.machine;
  const { label } = description;
  const seconds = (count: number): number => pace(count * 1_000);

  interface Running {
    readonly pid: number;
    readonly gone: Promise<void>;
    sigtermSent: boolean;
    /** Only in a crash loop. */
    readonly crash: (() => void) | undefined;
    hasCrashed: boolean;
  }
  let running: Running | undefined;
  let runs = 0;
  let lastExit: LastExit | undefined;
  let lastStart = 0;
  let unloaded = false;
  let cancelSpawn: (() => void) | undefined;
  let cancelInterval = (): void => {};

  const respawnsAfter = (exit: LastExit): boolean => {
    if (unloaded || !backgroundTasks.honoursKeepAlive(label)) return false;
    const succeeded = exit.kind === 'code' && exit.code === 0;
    switch (description.keepAlive) {
      case 'always':
        return true;
      case 'never':
        return false;
      case 'after success':
        return succeeded;
      case 'after failure':
        return !succeeded;
    }
  };

  const onExit = (exit: LastExit, pid?: number): void => {
    running = undefined;
    lastExit = exit;
    journal.record('launchd.exit', [label, ...(pid === undefined ? [] : [pid]), exitText(exit)].join(' '));
    if (!respawnsAfter(exit)) return;
    const wait = seconds(description.throttleInterval) - (clock.monotonic() - lastStart);
    cancelSpawn = clock.after(Math.max(0, wait), start);
  };

  const start = (): void => {
    cancelSpawn?.();
    cancelSpawn = undefined;
    if (running || unloaded) return;
    runs += 1;
    lastStart = clock.monotonic();
    const spawned = spawnJob(launcher, description, domain);
    if (spawned.kind === 'ended at once') return onExit(spawned.exit);
    const { process: child, pid } = spawned;
    journal.record('launchd.spawn', `${label} ${pid}`);
    const crash = (): void => {
      current.hasCrashed = true;
      child.kill('SIGKILL');
    };
    const isCrashing = faults.crashLoop.has(label);
    const cancelCrash = isCrashing ? clock.after(pace(crashAfterMs), crash) : (): void => {};
    const forgetGroup = killGroupAtExit(pid);
    const gone = new Promise<void>((resolve) => {
      child.once('exit', (code, signal) => {
        cancelCrash();
        forgetGroup();
        if (!description.abandonProcessGroup) killGroup(pid);
        onExit(signal === null ? { kind: 'code', code: code ?? 0 } : { kind: 'signal', signal }, pid);
        resolve();
      });
    });
    const current: Running = {
      pid,
      gone,
      sigtermSent: false,
      crash: isCrashing ? crash : undefined,
      hasCrashed: false,
    };
    running = current;
  };

  const signal = (name: NodeJS.Signals): boolean => {
    if (!running) return false;
    try {
      return process.kill(running.pid, name);
    } catch {
      return false;
    }
  };

  /** SIGTERM, and SIGKILL after the exit timeout. */
  const end = async (): Promise<void> => {
    if (!running) return;
    const { gone } = running;
    if (!running.sigtermSent) {
      running.sigtermSent = true;
      signal('SIGTERM');
      const exitTimeoutMs = Math.max(seconds(description.exitTimeOut), minExitTimeoutMs);
      const cancelKill = clock.after(exitTimeoutMs, () => signal('SIGKILL'));
      void gone.then(cancelKill);
    }
    await gone;
  };

  const everyInterval = (): void => {
    if (description.startInterval === undefined || unloaded) return;
    cancelInterval = clock.after(seconds(description.startInterval), () => {
      start();
      everyInterval();
    });
  };

  const stopRespawning = (): void => {
    unloaded = true;
    cancelSpawn?.();
    cancelSpawn = undefined;
    cancelInterval();
  };

  const state = (): JobView['state'] => {
    if (running && !running.hasCrashed) return running.sigtermSent ? 'SIGTERMed' : 'running';
    return cancelSpawn ? 'spawn scheduled' : 'not running';
  };

  /**
   * A process that crashes is seen at most once. By its timer alone a busy simulator would show it for longer than the paced sleep of
   * whoever looks twice, which is a process of its own.
   */
  const view = (): JobView => {
    const seen: JobView = {
      state: state(),
      runs,
      arguments: description.arguments,
      ...(running && !running.hasCrashed ? { pid: running.pid } : {}),
      ...(lastExit ? { lastExit: exitText(lastExit) } : {}),
    };
    running?.crash?.();
    return seen;
  };

  return {
    description,
    domain,
    file,
    lastExit: () => lastExit,
    view,
    load: (options) => {
      everyInterval();
      if (options.start && startsWhenLoaded(description)) start();
    },
    start,
    restart: async () => {
      await end();
      start();
    },
    signal,
    unload: async () => {
      stopRespawning();
      await end();
    },
    kill: async () => {
      stopRespawning();
      if (!running) return;
      const { pid, gone } = running;
      killGroup(pid);
      await gone;
    },
  };
};
