import { errorMessage } from '@tartan/kube';
import { logClusterEvents } from '../up/event-log.ts';
import { createStyledLog } from '../up/live/up-view.ts';
import { type Fault, type FaultContext, PrerequisiteError } from './fault.ts';
import type { FaultResult } from './protocol.ts';

/** Runs one fault and reports cluster events meanwhile. Never rejects. Everything is repaired when it resolves. */
export const runFault = async ({ title, watch, run }: Fault, context: FaultContext): Promise<FaultResult> => {
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
    return { ending: 'as expected', text: await run({ ...context, report }) };
  } catch (error) {
    const text = errorMessage(error);
    if (signal.aborted) return { ending: 'stopped', text: 'Stopped. What was broken is repaired.' };
    return { ending: error instanceof PrerequisiteError ? 'not playable' : 'unexpected', text };
  } finally {
    over.abort();
    await reporting.catch(() => {});
  }
};
