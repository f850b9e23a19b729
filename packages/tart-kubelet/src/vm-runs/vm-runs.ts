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
  /** What the guest of this virtual machine may write to. */
  readonly statusFolder: (vm: string) => string;
  /** A virtual machine of this Pod is not on any more, whoever started it. `remains` tells how it ended. */
  readonly onExit: (podUID: string) => void;
  /** How often an idle virtual machine is looked at. */
  readonly pollMs?: number;
  /** Of one generation of a log; there are two. */
  readonly maxBytes?: number;
  /** What tart wrote is cut when it is longer than this and all of it is in the log. */
  readonly maxRawBytes?: number;
}

interface WatchedRun {
  readonly copier: LogCopier;
  readonly path: string;
  /** Ends the looking at its process. */
  readonly stopWatching: AbortController;
  isWatched: boolean;
  /** Nothing more will be written to its log. */
  isFinished: boolean;
  /** Of a child of ours. */
  exiting?: Promise<VmExit>;
  exit?: VmExit;
}

/** A parent learns of its child's end within milliseconds, but for a thread that is busy. */
const exitGraceMs = 2_000;

const keyOf = ({ podUID, container, run }: LogName): string => `${podUID}/${container}/${run}`;

const fileExists = (file: string): boolean => {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // In doubt it was started: what ran must not run again.
    return true;
  }
};

/**
 * The processes of virtual machines, and what they leave behind.
 *
 * tart writes into a file of its own, without us (INC-04); it is copied into the log of the container line by line, and so is the guest's
 * own log from its status share. An agent that comes back goes on where the last one was.
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
    /** `tart run`. Rejects with a TartError; then nothing runs, and the caller takes the start back. */
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

    /** A process that is there already: watches its end and copies its log from now on. Does nothing for one that is watched. */
    watch: (run: VmRun, process: ProcessIdentity) => {
      const one = watchedRunOf(run);
      if (one.isWatched || isStopped) return;
      const { signal } = one.stopWatching;
      const find = throttledFind((pid) => processes.find(pid), processExists);
      awaitExit(run, one, pollExit(process, { find, clock, pollMs, signal }));
    },

    /**
     * What is known of this run; all of it also from an earlier life of the agent, but for the exit's code and time. Of one that was seen
     * not to be on (`isOn`), and that we started, the exit is waited for: others see a process end a moment before its parent does. Never
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

    /** It never was on: afterwards `remains` says that it was not started. */
    undoStart: async (run: VmRun) => {
      const path = files.pathOf(run);
      await forget(keyOf(run));
      // The raw output last: as long as it is there, this is to be done again.
      for (const file of [copyOffsetPath(path), path, rotatedPath(path), rawOutputPath(path)])
        await rm(file, { force: true });
      changes.notify();
    },

    /** Copies what is left of both logs and ends with them. To be called before anything of the run is thrown away. Safe to repeat. */
    finishLog: async (run: VmRun) => {
      const one = watchedRunOf(run);
      if (one.isFinished) return;
      if (fileExists(rawOutputPath(one.path))) await one.copier.finish();
      one.isFinished = true;
      changes.notify();
    },

    /** Nothing more will be written to the log of this run. */
    isLogFinished: (run: LogName) => watched.get(keyOf(run))?.isFinished ?? hasFinishedCheckpoint(files.pathOf(run)),

    /** All logs of a Pod. Not there is fine. */
    removeLogs: async (podUID: string) => {
      const keys = [...watched.keys()].filter((key) => key.startsWith(`${podUID}/`));
      await Promise.all(keys.map(forget));
      await files.remove(podUID);
      changes.notify();
    },

    /** Resolves after `signal` fired and everything is closed. Virtual machines stay on. */
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
