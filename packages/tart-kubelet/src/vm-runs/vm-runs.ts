import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { type Logger, untilAborted } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import {
  exitCause,
  pollExit,
  type ProcessIdentity,
  type ProcessTable,
  readLogTail,
  type Share,
  type Tart,
  TartError,
  type VmExit,
} from '@tartan/tart';
import { copyOffsetPath, type LogFiles, type LogName, rawOutputPath, rotatedPath } from '../logs/log-files.ts';
import type { LogNotifier } from '../logs/log-notifier.ts';
import type { LastRun } from '../pods/snapshot.ts';
import { readCheckpoint } from './copy-checkpoint.ts';
import { createLogCopier, type LogCopier } from './log-copier.ts';
import { processExists, throttledFind } from './process-liveness.ts';

/** One run of a Pod's container. */
export interface VmRun extends LogName {
  readonly vm: string;
}

export interface VmRunsOptions {
  readonly tart: Tart;
  readonly processes: ProcessTable;
  readonly clock: Clock;
  readonly log: Logger;
  readonly files: LogFiles;
  readonly changes: LogNotifier;
  /** The writable share of this VM's guest. */
  readonly statusFolder: (vm: string) => string;
  /** Called when a VM of this Pod has ended, started by this agent process or not. `lastRun` tells how. */
  readonly onExit: (podUID: string) => void;
  /** Polling interval for an idle VM. */
  readonly pollMs?: number;
  /** Size limit of one log file; there are two. */
  readonly maxBytes?: number;
  /** Tart's output is truncated when it is longer than this and completely copied. */
  readonly maxRawBytes?: number;
}

interface WatchedRun {
  readonly copier: LogCopier;
  readonly path: string;
  /** Stops the polling of its process. */
  readonly stopWatching: AbortController;
  isWatched: boolean;
  /** The log is complete. */
  isFinished: boolean;
  /** Only for our own child process. */
  exiting?: Promise<VmExit>;
  exit?: VmExit;
}

/** A parent learns of its child's exit within milliseconds, unless its thread is busy. */
const exitGraceMs = 2_000;

const keyOf = ({ podUID, container, run }: LogName): string => `${podUID}/${container}/${run}`;

const fileExists = (file: string): boolean => {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // In doubt it was started: a Pod must not run twice.
    return true;
  }
};

/**
 * The processes of VMs, and their logs.
 *
 * Tart writes its output to a file, independently of the agent (INC-04); the agent copies it into the container's log line by line,
 * together with the guest's own log from its status share. A restarted agent continues where the last one stopped.
 */
export const createVmRuns = (options: VmRunsOptions) => {
  const { tart, processes, clock, log, files, changes, statusFolder, onExit } = options;
  const { pollMs = 1_000, maxBytes = 10 * 1024 * 1024, maxRawBytes = 1024 * 1024 } = options;
  const watched = new Map<string, WatchedRun>();
  let isStopped = false;

  const hasFinishedCheckpoint = (path: string): boolean => readCheckpoint(copyOffsetPath(path)).finished === true;

  const watchedRunOf = (run: VmRun): WatchedRun => {
    const key = keyOf(run);
    const before = watched.get(key);
    if (before) return before;
    const path = files.pathOf(run);
    const about = { path, statusFolder: statusFolder(run.vm), clock, log, changes, pollMs, maxBytes, maxRawBytes };
    const copier = createLogCopier(about);
    const isFinished = hasFinishedCheckpoint(path);
    const fresh: WatchedRun = { copier, path, stopWatching: new AbortController(), isWatched: false, isFinished };
    watched.set(key, fresh);
    return fresh;
  };

  const awaitExit = (run: VmRun, one: WatchedRun, exited: Promise<VmExit>): void => {
    one.isWatched = true;
    if (!isStopped) one.copier.start();
    void exited.then((exit) => {
      if (one.stopWatching.signal.aborted) return;
      one.exit = exit;
      one.copier.wake();
      onExit(run.podUID);
    });
  };

  const waitForExit = async (exiting: Promise<VmExit>): Promise<void> => {
    const enough = new AbortController();
    await Promise.race([exiting, sleep(clock, exitGraceMs, enough.signal)]);
    enough.abort();
  };

  const forget = async (key: string): Promise<void> => {
    const one = watched.get(key);
    watched.delete(key);
    one?.stopWatching.abort();
    await one?.copier.stop();
  };

  return {
    /** Calls `tart run`. Rejects with a TartError; then nothing runs, and the caller undoes the start. */
    start: async (run: VmRun, shares: readonly Share[]) => {
      const path = await files.prepare(run).catch((cause: unknown) => {
        const message = `The log of ${run.vm} cannot be written: ${String(cause)}`;
        throw new TartError('other', message, { command: 'run', cause });
      });
      const { pid, startedAt, exited } = await tart.run(run.vm, { logFile: rawOutputPath(path), shares });
      const one = watchedRunOf(run);
      one.isFinished = false;
      one.exiting = exited;
      awaitExit(run, one, exited);
      return { pid, startedAt };
    },

    /** Watches the end of an existing process, and copies its log from now on. Does nothing if it is watched already. */
    watch: (run: VmRun, process: ProcessIdentity) => {
      const one = watchedRunOf(run);
      if (one.isWatched || isStopped) return;
      const { signal } = one.stopWatching;
      const find = throttledFind((pid) => processes.find(pid), processExists);
      awaitExit(run, one, pollExit(process, { find, clock, pollMs, signal }));
    },

    /**
     * What is known of this run, including that of previous agent processes except for exit code and time. If it is not running
     * (`isRunning`) and is our child, waits for its exit: the process table shows an end slightly before the parent learns of it. Never
     * rejects.
     */
    lastRun: async (run: VmRun, isRunning: boolean): Promise<Omit<LastRun, 'report'>> => {
      try {
        const path = files.pathOf(run);
        const one = watched.get(keyOf(run));
        if (!isRunning && one?.exiting !== undefined) await waitForExit(one.exiting);
        const { exit } = one ?? {};
        const { cutOff = '' } = readCheckpoint(copyOffsetPath(path));
        const started = fileExists(rawOutputPath(path));
        const text = started ? cutOff + (await readLogTail(rawOutputPath(path))) : cutOff;
        return {
          started,
          exitedAt: exit?.at,
          exitCode: exit?.code,
          ending: exitCause({ code: exit?.code, signal: exit?.signal }, text),
        };
      } catch (error) {
        log.warn('What is left of a run cannot be read', { ...run, error });
        return { started: true, ending: { kind: 'unknown' } };
      }
    },

    /** Undoes a start after which the guest never ran: then `lastRun` reports it as not started. */
    undoStart: async (run: VmRun) => {
      const path = files.pathOf(run);
      await forget(keyOf(run));
      // The raw output last: while it exists, this is repeated.
      for (const file of [copyOffsetPath(path), path, rotatedPath(path), rawOutputPath(path)])
        await rm(file, { force: true });
      changes.notify();
    },

    /** Copies the rest of both logs and closes them. Call it before anything of the run is deleted. Idempotent. */
    finishLog: async (run: VmRun) => {
      const one = watchedRunOf(run);
      if (one.isFinished) return;
      if (fileExists(rawOutputPath(one.path))) await one.copier.finish();
      one.isFinished = true;
      changes.notify();
    },

    /** Whether the log of this run is complete. */
    isLogFinished: (run: LogName) => watched.get(keyOf(run))?.isFinished ?? hasFinishedCheckpoint(files.pathOf(run)),

    /** Removes all logs of a Pod. Idempotent. */
    removeLogs: async (podUID: string) => {
      const keys = [...watched.keys()].filter((key) => key.startsWith(`${podUID}/`));
      await Promise.all(keys.map(forget));
      await files.remove(podUID);
      changes.notify();
    },

    /** Resolves after `signal` fired and everything is closed. VMs keep running. */
    run: async (signal: AbortSignal) => {
      await untilAborted(signal);
      isStopped = true;
      await Promise.all(
        [...watched.values()].map(({ copier, stopWatching }) => {
          stopWatching.abort();
          return copier.stop();
        }),
      );
    },
  };
};

export type RunnableVmRuns = ReturnType<typeof createVmRuns>;
export type VmRuns = Omit<RunnableVmRuns, 'run'>;
