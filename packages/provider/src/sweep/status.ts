import { type EventReason, events } from '@tartan/api';
import type { Happening } from '@tartan/kube';
import type { StrandedVerdict } from './verdict.ts';

const happening = (reason: EventReason, message: string): Happening => ({ type: events[reason][0], reason, message });

/** What would be done with a Mac that is left alone, and why it is not. */
export const strandedHappening = ({ message }: StrandedVerdict): Happening => happening('Stranded', message);

export const reclaimedHappening = ({ message }: StrandedVerdict): Happening => happening('Reclaimed', message);

export const abortedHappening = (error: unknown): Happening =>
  happening(
    'ReclaimAborted',
    `It was to be put back into the pool, but whether a machine needs it could not be checked: ${error instanceof Error ? error.message : String(error)} Nothing was done with any Mac; it is tried again.`,
  );
