import { basename, dirname } from 'node:path';
import type { Logger } from '@tartan/kube';
import { type Clock, sleep } from '@tartan/kube/clock';
import { writeDurably } from '../journal/write-durably.ts';
import type { LogChanges } from '../logs/log-changes.ts';
import { copiedMark, rawOutput } from '../logs/log-files.ts';
import { createLogWriter, type LogWriter } from '../logs/log-writer.ts';
import { createBell } from './bell.ts';
import { type Copied, formatCopied, nothingCopied, type Position, readCopied, writeCopied } from './copied.ts';
import { afterCrash, cutRaw } from './cut-raw.ts';
import { blockSize, createTail, type Tail } from './tail.ts';
import { watchFile } from './watch-file.ts';
import { withoutSecrets } from './without-secrets.ts';

export interface CopierOptions {
  /** The log. */
  readonly path: string;
  /** What the guest may write to. */
  readonly statusFolder: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly changes: LogChanges;
  /** An idle virtual machine costs one look in this time. */
  readonly pollMs: number;
  /** Of one generation of the log, and of what may be waiting to be copied. */
  readonly maxBytes: number;
  readonly maxRawBytes: number;
}

/** Makes the log of one run from what tart and the guest write, across the lives of agents. */
export interface Copier {
  /** Copies on and on, until it is stopped or finished. */
  begin(): void;
  /** Something happened: look now. */
  wake(): void;
  /** Copies the rest, for good. Never rejects. Safe to repeat. */
  finish(): Promise<void>;
  /** Leaves everything as it is, for the next agent. */
  stop(): Promise<void>;
}

/** The name of the guest's own log in its status share. */
const guestLog = 'runner.log';
/** Four chunks a look and ten looks a second: 2.5 MB/s, faster than any build prints. */
const mostPerLook = 4 * blockSize;
const busyMs = 100;
/** Every so many idle looks are for tart, which seldom says anything and is watched; the others are for the guest. */
const rawEvery = 4;

type Which = 'raw' | 'guest' | 'both';

export const createCopier = (options: CopierOptions): Copier => {
  const { path, statusFolder, clock, log, changes, pollMs, maxBytes, maxRawBytes } = options;
  const raw = rawOutput(path);
  const mark = copiedMark(path);
  const bell = createBell(clock);
  const stopping = new AbortController();
  const complaints = new Set<string>();
  const complain = (message: string, why: unknown): void => {
    const text = `${message} ${String(why)}`;
    if (complaints.has(text) || complaints.size > 20) return;
    complaints.add(text);
    log.warn(message, { log: path, why });
  };
  const tails: Readonly<Record<'raw' | 'guest', Tail>> = {
    guest: createTail({ folder: statusFolder, name: guestLog, stream: 'stdout' }, (why) =>
      complain('The log that a guest offers is not read', why),
    ),
    raw: createTail({ folder: dirname(raw), name: basename(raw), stream: 'stderr', clean: withoutSecrets }, (why) =>
      complain('The output of tart is not read', why),
    ),
  };
  let writer: LogWriter | undefined;
  let copied: Copied | undefined;
  let copying: Promise<void> | undefined;
  let ended: Promise<void> | undefined;
  let turn: Promise<unknown> = Promise.resolve();

  /** One thing at a time: a look, a finish, a stop. */
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const mine = turn.then(work);
    turn = mine.catch(() => {});
    return mine;
  };
  const known = async (): Promise<Copied> => (copied ??= await afterCrash(raw, await readCopied(mark)));
  const save = async (next: Copied): Promise<void> => {
    copied = next;
    await writeCopied(mark, next);
  };

  const copy = async (which: 'raw' | 'guest', isLast: boolean): Promise<boolean> => {
    writer ??= createLogWriter({
      path,
      clock,
      changes,
      maxBytes,
      onProblem: (error) => complain('A log cannot be written; its text waits where it is', error),
    });
    const from = (await known())[which];
    const onCopied = async (position: Position): Promise<void> =>
      save({ ...(copied ?? nothingCopied), [which]: position });
    // A guest that writes faster than we copy must not keep us from ending.
    const most = isLast ? 2 * maxBytes : mostPerLook;
    return tails[which].copy(from, { isLast, most, mostBehind: maxBytes, writer, onCopied });
  };

  const look = async (which: Which): Promise<boolean> => {
    try {
      const guest = which !== 'raw' && (await copy('guest', false));
      const tart = which !== 'guest' && (await copy('raw', false));
      const now = await known();
      if (which !== 'guest' && !tart && now.raw.offset > maxRawBytes) await cutRaw(raw, now, save);
      return guest || tart;
    } catch (error) {
      complain('A log could not be copied; it is tried again', error);
      return false;
    }
  };

  const copyOn = async (): Promise<void> => {
    const { signal } = stopping;
    if ((await known()).finished) return;
    const unwatch = watchFile(raw, () => bell.ring());
    let which: Which = 'both';
    for (let looks = 1; !signal.aborted; looks++) {
      const isBusy = await inTurn(async () => !signal.aborted && (await look(which)));
      if (isBusy) {
        await sleep(clock, busyMs, signal);
        which = 'both';
      } else {
        const rang = await bell.wait(pollMs, signal);
        which = rang || looks % rawEvery === 0 ? 'raw' : 'guest';
      }
    }
    unwatch();
  };

  const close = async (): Promise<void> => {
    const last = writer;
    writer = undefined;
    await last?.close();
  };

  const finish = async (): Promise<void> => {
    const before = await known().catch(() => nothingCopied);
    if (before.finished) return;
    for (const which of ['guest', 'raw'] as const)
      await copy(which, true).catch((error: unknown) => complain('The end of a log could not be copied', error));
    await close();
    copied = { ...(copied ?? before), finished: true };
    // A full disk must not keep a virtual machine from being deleted.
    await writeDurably(mark, formatCopied(copied)).catch((error: unknown) =>
      complain('That a log is complete could not be written down', error),
    );
  };

  return {
    begin: () => {
      copying ??= copyOn().catch((error: unknown) => complain('A log is not copied', error));
    },
    wake: () => bell.ring(),
    finish: () => {
      stopping.abort();
      return (ended ??= inTurn(finish));
    },
    stop: async () => {
      stopping.abort();
      await copying;
      await inTurn(close);
    },
  };
};
