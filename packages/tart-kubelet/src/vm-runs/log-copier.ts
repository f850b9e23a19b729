import { basename, dirname } from 'node:path';
import { sleep } from '@tartan/kube/clock';
import { redact } from '@tartan/tart';
import { writeFileAtomic } from '../journal/atomic-write.ts';
import { copyOffsetPath, rawOutputPath } from '../logs/log-files.ts';
import { createLogWriter, type LogWriter } from '../logs/log-writer.ts';
import {
  type CopyCheckpoint,
  emptyCheckpoint,
  formatCheckpoint,
  type Position,
  readCheckpoint,
  recoverAfterCrash,
  truncateRawOutput,
  writeCheckpoint,
} from './copy-checkpoint.ts';
import { blockSize, createTail, type Tail } from './tail.ts';
import type { VmRunsOptions } from './vm-runs.ts';

/** Redacts VNC addresses and other secrets in tart's output. Bytes without secrets stay unchanged. */
const redactSecrets = (bytes: Buffer): Buffer => {
  const text = bytes.toString('utf8');
  const clean = text
    .split('\n')
    .map((line) => redact(line))
    .join('\n');
  return clean === text ? bytes : Buffer.from(clean);
};

interface LogCopierOptions
  extends Required<Pick<VmRunsOptions, 'changes' | 'clock' | 'log' | 'maxBytes' | 'maxRawBytes' | 'pollMs'>> {
  /** The log file. */
  readonly path: string;
  /** The guest's writable share. */
  readonly statusFolder: string;
}

/** The guest's log in its status share. */
const guestLog = 'runner.log';
/** Four blocks, ten times a second: 2.5 MB/s, faster than any build's output. */
const maxBytesPerPass = 4 * blockSize;
const busyPollMs = 100;

/** Writes the log of one run from the output of tart and the guest, across agent restarts. */
export const createLogCopier = (options: LogCopierOptions) => {
  const { path, statusFolder, clock, log, changes, pollMs, maxBytes, maxRawBytes } = options;
  const raw = rawOutputPath(path);
  const checkpointFile = copyOffsetPath(path);
  const stopping = new AbortController();
  let wake = new AbortController();
  const warned = new Set<string>();
  const warnOnce = (message: string, why: unknown): void => {
    const text = `${message} ${String(why)}`;
    if (warned.has(text) || warned.size > 20) return;
    warned.add(text);
    log.warn(message, { log: path, why });
  };
  const tails: Readonly<Record<'raw' | 'guest', Tail>> = {
    guest: createTail({ folder: statusFolder, name: guestLog, stream: 'stdout' }, (why) =>
      warnOnce('The log that a guest offers is not read', why),
    ),
    raw: createTail({ folder: dirname(raw), name: basename(raw), stream: 'stderr', clean: redactSecrets }, (why) =>
      warnOnce('The output of tart is not read', why),
    ),
  };
  let writer: LogWriter | undefined;
  let checkpoint: CopyCheckpoint | undefined;
  let copying: Promise<void> | undefined;
  let ended: Promise<void> | undefined;
  let lastTask: Promise<unknown> = Promise.resolve();

  /** Serialises copies, finish and stop. */
  const serialize = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = lastTask.then(work);
    lastTask = mine.catch(() => {});
    return mine;
  };
  const loadCheckpoint = async (): Promise<CopyCheckpoint> =>
    (checkpoint ??= await recoverAfterCrash(raw, readCheckpoint(checkpointFile)));
  const save = async (next: CopyCheckpoint): Promise<void> => {
    checkpoint = next;
    await writeCheckpoint(checkpointFile, next);
  };

  const copy = async (which: 'raw' | 'guest', isLast: boolean): Promise<boolean> => {
    writer ??= createLogWriter({
      path,
      clock,
      notifier: changes,
      maxBytes,
      onError: (error) => warnOnce('A log cannot be written; its text waits where it is', error),
    });
    const from = (await loadCheckpoint())[which];
    const onCopied = async (position: Position): Promise<void> =>
      save({ ...(checkpoint ?? emptyCheckpoint), [which]: position });
    // Bounds the last copy, in case a guest writes faster than we copy.
    const most = isLast ? 2 * maxBytes : maxBytesPerPass;
    return tails[which].copy(from, { isLast, maxBytes: most, maxBehind: maxBytes, writer, onCopied });
  };

  const copyOnce = async (): Promise<boolean> => {
    try {
      const guest = await copy('guest', false);
      const tart = await copy('raw', false);
      const now = await loadCheckpoint();
      if (!tart && now.raw.offset > maxRawBytes) await truncateRawOutput(raw, now, save);
      return guest || tart;
    } catch (error) {
      warnOnce('A log could not be copied; it is tried again', error);
      return false;
    }
  };

  const copyLoop = async (): Promise<void> => {
    const { signal } = stopping;
    if ((await loadCheckpoint()).finished) return;
    while (!signal.aborted) {
      const isBusy = await serialize(async () => !signal.aborted && (await copyOnce()));
      await sleep(clock, isBusy ? busyPollMs : pollMs, AbortSignal.any([signal, wake.signal]));
      if (wake.signal.aborted) wake = new AbortController();
    }
  };

  const close = async (): Promise<void> => {
    const last = writer;
    writer = undefined;
    await last?.close();
  };

  const finish = async (): Promise<void> => {
    const before = await loadCheckpoint().catch(() => emptyCheckpoint);
    if (before.finished) return;
    for (const which of ['guest', 'raw'] as const)
      await copy(which, true).catch((error: unknown) => warnOnce('The end of a log could not be copied', error));
    await close();
    checkpoint = { ...(checkpoint ?? before), finished: true };
    // A full disk must not prevent the deletion of a VM.
    await writeFileAtomic(checkpointFile, formatCheckpoint(checkpoint)).catch((error: unknown) =>
      warnOnce('That a log is complete could not be written down', error),
    );
  };

  return {
    /** Copies until it is stopped or finished. */
    start: () => {
      copying ??= copyLoop().catch((error: unknown) => warnOnce('A log is not copied', error));
    },
    /** Copies now. */
    wake: () => wake.abort(),
    /** Copies the rest and ends. Never rejects. Idempotent. */
    finish: () => {
      stopping.abort();
      return (ended ??= serialize(finish));
    },
    /** Stops without finishing, for the next agent process. */
    stop: async () => {
      stopping.abort();
      await copying;
      await serialize(close);
    },
  };
};

export type LogCopier = ReturnType<typeof createLogCopier>;
