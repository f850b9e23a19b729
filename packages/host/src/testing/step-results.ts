import type { HostEvent, StepResult } from '../engine/host-outcome.ts';

/** The steps that finished with this result, in order. */
export const stepsWith = (result: StepResult, events: readonly HostEvent[]): string[] =>
  events.flatMap((event) => (event.kind === 'step finished' && event.result === result ? [event.step] : []));
