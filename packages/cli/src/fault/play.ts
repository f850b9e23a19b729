import { logClusterEvents } from '../up/event-log.ts';
import { createStyledLog } from '../up/live/up-view.ts';
import { CannotPlay, type Fault, type FaultContext } from './fault.ts';

export interface PlayOutcome {
  /** `not playable`: nothing was changed. */
  readonly kind: 'as expected' | 'not playable' | 'unexpected' | 'stopped';
  readonly text: string;
}

/** Plays one fault and reports cluster events meanwhile. Never rejects. Everything is repaired when it resolves. */
export const play = async ({ title, watch, play: begin }: Fault, context: FaultContext): Promise<PlayOutcome> => {
  const { simulation, signal } = context;
  // One line each.
  const report = (line: string): void => context.report(line.replaceAll(/\s*\n\s*/g, ' '));
  const over = new AbortController();
  const until = AbortSignal.any([signal, over.signal]);
  const reporting = logClusterEvents(
    simulation.controlPlane.client,
    createStyledLog(report, { colours: false }),
    until,
  );
  reporting.catch(() => {});
  try {
    report(title);
    report(`Watch it with: ${watch.join(', ')}`);
    return { kind: 'as expected', text: await begin({ ...context, report }) };
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    if (signal.aborted) return { kind: 'stopped', text: 'Stopped. What was broken is repaired.' };
    return { kind: error instanceof CannotPlay ? 'not playable' : 'unexpected', text };
  } finally {
    over.abort();
    await reporting.catch(() => {});
  }
};
