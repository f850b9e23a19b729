import {
  type Client,
  createController,
  createInformer,
  done,
  fromInformer,
  type Live,
  type Logger,
  nodes,
  type ReconcileResult,
  requestForObject,
  requeueAfter,
  untilAborted,
  withoutManagedFields,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import { createFactsCache, type HostFacts } from '../facts/host-facts.ts';
import { act } from './act.ts';
import { decide, unfixableProblems } from './decide.ts';
import { keepLeaseRenewed } from './lease.ts';
import { createObserve, type Node, type NodeConfig } from './observe.ts';
import { watchStamps } from './stamps.ts';

export interface NodeOptions {
  /** Authenticated as `system:node:<name>`, with only its permissions. */
  readonly client: Client;
  readonly config: NodeConfig;
  readonly host: HostFacts;
  /** The folder of the host steps' stamps. */
  readonly stamps: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** How often the Mac's facts are read. Sends no request while nothing has changed. */
const pollMs = 10_000;

/** The Node exists, but the watch has not delivered it yet. */
const watchLagMs = 1_000;

/** Maximum delay after failures: with the queue's default a Node could stay away for a quarter of an hour. */
const backoff = { baseMs: 100, maxMs: 30_000 };

/**
 * Reconciles the Node and renews its Lease.
 *
 * Flow: a watch on this one Node, and the Mac's facts every ten seconds → decide → one write → decide again, until nothing is left to
 * write.
 * Guarantees: an idle Mac writes only its Lease, and its status every five minutes. A deleted Node is registered again as soon as the
 * watch reports it.
 */
export const createNodeController = (options: NodeOptions) => {
  const { client, config, host, clock, random, log } = options;
  const { nodeName } = config;
  const ready = Promise.withResolvers<void>();
  const cache = createInformer({
    client,
    resource: nodes,
    // NodeRestriction allows a Node to list only itself.
    fieldSelector: `metadata.name=${nodeName}`,
    transform: withoutManagedFields,
    clock,
    random,
    log,
  });
  /** The result of our last write, until the watch delivers an event: otherwise the next reconcile would repeat the write. */
  let lastWritten: Live<Node> | undefined;
  let watchEvents = 0;
  const current = (): Live<Node> | undefined => lastWritten ?? cache.get(nodeName);
  const facts = createFactsCache(host, clock, log);
  const observe = createObserve({ current, facts, config, stamps: options.stamps, clock, log });
  const loggedProblems = new Set<string>();
  let trigger = (): void => {};

  const logProblems = (texts: readonly string[]): void => {
    for (const problem of texts)
      if (!loggedProblems.has(problem)) log.warn('The Node has a problem that the agent cannot fix', { problem });
    loggedProblems.clear();
    for (const text of texts) loggedProblems.add(text);
  };

  const reconcile = async (_: string, signal: AbortSignal): Promise<ReconcileResult> => {
    const snapshot = await observe(signal);
    if (signal.aborted) return done;
    logProblems(unfixableProblems(snapshot));
    const decision = decide(snapshot);
    if (decision.kind === 'done') {
      ready.resolve();
      return requeueAfter(Math.max(0, Math.min(pollMs, decision.until - snapshot.now)));
    }
    const before = watchEvents;
    const answer = await act(decision, { client, nodeName, signal });
    // An event of the watch meanwhile is this write or a newer one.
    if (watchEvents === before) lastWritten = answer;
    if (decision.kind === 'register') log.info('The Node is registered', { node: nodeName });
    return requeueAfter(answer === undefined ? watchLagMs : 0);
  };

  const controller = createController({
    name: 'node',
    reconcile,
    sources: [
      fromInformer(cache, requestForObject),
      (enqueue) => {
        trigger = () => enqueue(nodeName);
        trigger();
        return () => {};
      },
    ],
    backoff,
    clock,
    log,
  });

  return {
    /** Resolves when the Node is registered and its status is written for the first time. */
    ready: ready.promise,
    /** The Node as last seen or written. */
    get node() {
      return current();
    },
    /** Reconciles the Node at once after a change on the Mac. */
    trigger: () => trigger(),
    /** Runs until `signal` fires. */
    run: async (signal: AbortSignal) => {
      const unwatch = watchStamps(options.stamps, () => trigger());
      const unsubscribe = cache.subscribe(() => {
        watchEvents += 1;
        lastWritten = undefined;
      });
      const afterFirstList = async (): Promise<void> => {
        await Promise.race([cache.synced, untilAborted(signal)]);
        await controller.run(signal);
      };
      const nodeUID = (): string | undefined => current()?.metadata.uid;
      await Promise.all([
        cache.run(signal),
        afterFirstList(),
        keepLeaseRenewed({ client, nodeName, nodeUID, clock, log }, signal),
      ]);
      unsubscribe();
      unwatch();
    },
  };
};
