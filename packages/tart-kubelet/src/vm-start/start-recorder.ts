import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { writeFileAtomic } from '../journal/atomic-write.ts';
import {
  afterRefusal,
  afterStart,
  emptyHistory,
  parseHistory,
  type RefusedStart,
  type StartHealth,
  startHealth,
  type StartHistory,
} from './start-health.ts';

export interface StartRecorderOptions {
  /** Persistent; valid for one boot of the Mac. */
  readonly file: string;
  /** Changes with each boot. Empty: unknown; then the history of a previous agent process is not used. */
  readonly bootID: () => Promise<string>;
  readonly vmSlots: number;
  /** Called when the verdict changes. */
  readonly changed?: (() => void) | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** Records the results of VM starts on this Mac. No method rejects: a failure to record must not prevent a start. */
export const createStartRecorder = (options: StartRecorderOptions) => {
  const { changed, clock, file, log, vmSlots } = options;

  const load = async (): Promise<StartHistory> => {
    const bootID = await options.bootID().catch(() => '');
    const text = await readFile(file, 'utf8').catch(() => '');
    return (bootID !== '' && parseHistory(text, bootID)) || emptyHistory(bootID);
  };
  let history: Promise<StartHistory> | undefined;
  const health = async (): Promise<StartHealth> => startHealth(await (history ??= load()), vmSlots, clock.now());

  /** Serialised, as each update depends on the previous one. */
  const update = async (next: (before: StartHistory) => StartHistory): Promise<void> => {
    const previous = await health();
    const write = async (before: StartHistory): Promise<StartHistory> => {
      const after = next(before);
      const text = JSON.stringify(after);
      if (text === JSON.stringify(before)) return before;
      try {
        await mkdir(dirname(file), { recursive: true });
        await writeFileAtomic(file, text);
      } catch (error) {
        log.warn('What became of a start could not be written down', { file, error });
      }
      return after;
    };
    history = (history ?? load()).then(write);
    const current = await health();
    if (current.kind === previous.kind) return;
    log.info('Whether this Mac can start virtual machines has changed', { verdict: current.kind });
    changed?.();
  };

  return {
    recordRefusal: (refusal: RefusedStart) => update((before) => afterRefusal(before, refusal, vmSlots, clock.now())),
    /** A guest ran; `running`: the number of running VMs including it. */
    recordSuccess: (start: { readonly image: string; readonly running: number }) =>
      update((before) => afterStart(before, start)),
    health,
  };
};

export type StartRecorder = ReturnType<typeof createStartRecorder>;
