import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import type { Logger } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { adoptVm, type ProcessTable, readLogTail, runEnding, type Tart, type VmExit } from '@tartan/tart';
import type { LogChanges } from '../logs/log-changes.ts';
import { copiedMark, type LogFiles, olderGeneration, rawOutput } from '../logs/log-files.ts';
import { readCopiedNow } from './copied.ts';
import { type Copier, createCopier } from './copier.ts';
import { createLogRoom } from './log-room.ts';
import type { Run, Runs } from './runs.ts';
import { type ProcessExists, processExists, seldomAsking } from './seldom-asking.ts';

export interface RunsOptions {
  readonly tart: Tart;
  readonly processes: ProcessTable;
  readonly clock: Clock;
  readonly log: Logger;
  readonly files: LogFiles;
  readonly changes: LogChanges;
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
  readonly processExists?: ProcessExists;
}

/** Also the running of it: resolves after `signal` fired and everything is closed. Virtual machines stay on. */
export type RunningRuns = Runs & { run(signal: AbortSignal): Promise<void> };

interface Watched {
  readonly copier: Copier;
  readonly path: string;
  /** Ends the looking at its process. */
  readonly forgotten: AbortController;
  isFollowed: boolean;
  /** Of a child of ours. */
  exiting?: Promise<VmExit>;
  exit?: VmExit;
}

/** A parent learns of its child's end within milliseconds, but for a thread that is busy. */
const exitPatienceMs = 2_000;

const keyOf = ({ podUID, container, run }: Omit<Run, 'vm'>): string => `${podUID}/${container}/${run}`;

const isThere = (file: string): boolean => {
  try {
    return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
  } catch {
    // In doubt it was started: what ran must not run again.
    return true;
  }
};

export const createRuns = (options: RunsOptions): RunningRuns => {
  const { tart, processes, clock, log, files, changes, statusFolder, onExit } = options;
  const { pollMs = 1_000, maxBytes = 10 * 1024 * 1024, maxRawBytes = 1024 * 1024 } = options;
  const exists = options.processExists ?? processExists;
  const watched = new Map<string, Watched>();
  const finished = new Set<string>();
  const room = createLogRoom(files);
  let isStopped = false;

  const isFinished = (run: Omit<Run, 'vm'>): boolean => {
    const key = keyOf(run);
    if (finished.has(key)) return true;
    if (watched.get(key)?.isFollowed === true) return false;
    const isSo = readCopiedNow(copiedMark(files.pathOf(run))).finished === true;
    if (isSo) finished.add(key);
    return isSo;
  };

  const watchedOf = (run: Run): Watched => {
    const key = keyOf(run);
    const before = watched.get(key);
    if (before) return before;
    const path = files.pathOf(run);
    const about = { path, statusFolder: statusFolder(run.vm), clock, log, changes, pollMs, maxBytes, maxRawBytes };
    const copier = createCopier(about);
    const fresh: Watched = { copier, path, forgotten: new AbortController(), isFollowed: false };
    watched.set(key, fresh);
    return fresh;
  };

  const awaitExit = (run: Run, one: Watched, exited: Promise<VmExit>): void => {
    one.isFollowed = true;
    if (!isStopped) one.copier.begin();
    void exited.then((exit) => {
      if (one.forgotten.signal.aborted) return;
      one.exit = exit;
      one.copier.wake();
      onExit(run.podUID);
    });
  };

  const orPatience = async (exiting: Promise<VmExit>): Promise<void> => {
    const enough = new AbortController();
    await Promise.race([exiting, sleep(clock, exitPatienceMs, enough.signal)]);
    enough.abort();
  };

  const forget = async (key: string): Promise<void> => {
    const one = watched.get(key);
    watched.delete(key);
    finished.delete(key);
    one?.forgotten.abort();
    await one?.copier.stop();
  };

  return {
    prepare: (run) => room.make(run),

    start: async (run, shares) => {
      const path = await room.take(run);
      // Its disk is thrown away with it: nearly twice as fast (INC-57).
      const about = { logFile: rawOutput(path), shares, rootDiskCaching: 'cached' } as const;
      const { pid, startedAt, exited } = await tart.run(run.vm, about);
      finished.delete(keyOf(run));
      const one = watchedOf(run);
      one.exiting = exited;
      awaitExit(run, one, exited);
      return { pid, startedAt };
    },

    follow: (run, process) => {
      const one = watchedOf(run);
      if (one.isFollowed || isStopped) return;
      // Asked before it is followed: an earlier agent may have finished its log.
      isFinished(run);
      const { signal } = one.forgotten;
      const vm = { name: run.vm, logFile: rawOutput(one.path), ...process };
      const adopted = adoptVm(vm, { processes: seldomAsking(processes, exists), clock, pollMs, signal });
      awaitExit(run, one, adopted.exited);
    },

    remains: async (run, isOn) => {
      try {
        const path = files.pathOf(run);
        const one = watched.get(keyOf(run));
        if (!isOn && one?.exiting !== undefined) await orPatience(one.exiting);
        const { exit } = one ?? {};
        const { cutOff = '' } = readCopiedNow(copiedMark(path));
        const started = isThere(rawOutput(path));
        const text = started ? cutOff + (await readLogTail(rawOutput(path))) : cutOff;
        return {
          started,
          exitedAt: exit?.at,
          exitCode: exit?.code,
          ending: runEnding({ code: exit?.code, signal: exit?.signal }, text),
        };
      } catch (error) {
        log.warn('What is left of a run cannot be read', { ...run, error });
        return { started: true, ending: { kind: 'unknown' } };
      }
    },

    takeBack: async (run) => {
      const path = files.pathOf(run);
      await forget(keyOf(run));
      // The raw output last: as long as it is there, this is to be done again.
      for (const file of [copiedMark(path), path, olderGeneration(path), rawOutput(path)])
        await rm(file, { force: true });
      changes.forget(path);
    },

    finish: async (run) => {
      const key = keyOf(run);
      if (finished.has(key)) return;
      const { path, copier } = watchedOf(run);
      if (isThere(rawOutput(path))) await copier.finish();
      finished.add(key);
      changes.changed(path);
    },

    isFinished,

    remove: async (podUID) => {
      const keys = [...watched.keys(), ...finished].filter((key) => key.startsWith(`${podUID}/`));
      const paths = keys.flatMap((key) => watched.get(key)?.path ?? []);
      await Promise.all(keys.map(forget));
      room.forget(podUID);
      await files.remove(podUID);
      for (const path of paths) changes.forget(path);
    },

    run: async (signal) => {
      await new Promise<void>((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      });
      isStopped = true;
      await Promise.all(
        [...watched.values()].map(({ copier, forgotten }) => {
          forgotten.abort();
          return copier.stop();
        }),
      );
    },
  };
};
