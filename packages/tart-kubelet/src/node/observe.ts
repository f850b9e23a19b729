import type { Live, Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { KnownFacts } from './known-facts.ts';
import type { Node, Snapshot } from './snapshot.ts';
import { stampSummary } from './stamps.ts';
import type { Wanted } from './wanted.ts';

interface ObserveOptions {
  readonly current: () => Live<Node> | undefined;
  readonly facts: KnownFacts;
  readonly wanted: Wanted;
  readonly stamps: string;
  readonly clock: Clock;
  readonly log: Logger;
}

/** All that matters for the Node. The Node itself comes last, as it is the one that others change. */
export const createObserve = ({ current, facts, wanted, stamps, clock, log }: ObserveOptions) => {
  let unreadable = false;
  const summaryNow = async (): Promise<string | undefined> => {
    try {
      const summary = await stampSummary(stamps);
      unreadable = false;
      return summary;
    } catch (error) {
      if (!unreadable) log.warn('The stamps of the host steps cannot be read', { folder: stamps, error });
      unreadable = true;
      return undefined;
    }
  };
  return async (signal: AbortSignal): Promise<Snapshot> => {
    const [known, summary] = await Promise.all([facts.look(signal), summaryNow()]);
    return { now: clock.now(), wanted, node: current(), facts: known, summary };
  };
};
