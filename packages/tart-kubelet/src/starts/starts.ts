import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { writeDurably } from '../journal/write-durably.ts';
import {
  afterRefusal,
  afterStart,
  noEvidence,
  parseEvidence,
  type RefusedStart,
  type StartEvidence,
  type StartVerdict,
  verdictOf,
} from './evidence.ts';

export interface StartsOptions {
  /** Outlives the agent, and counts for one boot of the Mac. */
  readonly file: string;
  /** Another one after each boot. Empty: not known, and then nothing is taken over from an earlier agent. */
  readonly bootID: () => Promise<string>;
  readonly vmSlots: number;
  /** The verdict is another one. */
  readonly changed?: (() => void) | undefined;
  readonly clock: Pick<Clock, 'now'>;
  readonly log: Logger;
}

/** What became of the starts of virtual machines on this Mac. No method rejects: a lost count must not cost a start. */
export interface Starts {
  refused(refusal: RefusedStart): Promise<void>;
  /** A guest was on; `running` are, with it. */
  worked(start: { readonly image: string; readonly running: number }): Promise<void>;
  verdict(): Promise<StartVerdict>;
}

export const createStarts = (options: StartsOptions): Starts => {
  const { changed, clock, file, log, vmSlots } = options;

  const load = async (): Promise<StartEvidence> => {
    const bootID = await options.bootID().catch(() => '');
    const text = await readFile(file, 'utf8').catch(() => '');
    return (bootID !== '' && parseEvidence(text, bootID)) || noEvidence(bootID);
  };
  let evidence: Promise<StartEvidence> | undefined;
  const verdict = async (): Promise<StartVerdict> => verdictOf(await (evidence ??= load()), vmSlots, clock.now());

  /** One after the other, as each is made from the one before. */
  const change = async (next: (before: StartEvidence) => StartEvidence): Promise<void> => {
    const was = await verdict();
    const write = async (before: StartEvidence): Promise<StartEvidence> => {
      const after = next(before);
      const text = JSON.stringify(after);
      if (text === JSON.stringify(before)) return before;
      try {
        await mkdir(dirname(file), { recursive: true });
        await writeDurably(file, text);
      } catch (error) {
        log.warn('What became of a start could not be written down', { file, error });
      }
      return after;
    };
    evidence = (evidence ?? load()).then(write);
    const is = await verdict();
    if (is.kind === was.kind) return;
    log.info('Whether this Mac can start virtual machines has changed', { verdict: is.kind });
    changed?.();
  };

  return {
    refused: (refusal) => change((before) => afterRefusal(before, refusal, vmSlots, clock.now())),
    worked: (start) => change((before) => afterStart(before, start)),
    verdict,
  };
};
