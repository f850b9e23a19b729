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
  /** As `system:node:<name>`, with that identity's rights and no others. */
  readonly client: Client;
  readonly config: NodeConfig;
  readonly host: HostFacts;
  /** Where the stamps of the host steps lie. */
  readonly stamps: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

/** How often the Mac is looked at. Costs no request as long as nothing has changed. */
const pollMs = 10_000;

/** The Node exists, and the watch is behind. */
const watchLagMs = 1_000;

/** A failing API server is asked again at least this often: with the queue's own limit a Node could stay away for a quarter of an hour. */
const backoff = { baseMs: 100, maxMs: 30_000 };

/**
 * Looks after the Node and its Lease.
 *
 * Flow: a watch on the one Node, and a look at the Mac every ten seconds → decide → one write → decide again, until it says everything.
 * Guarantees: an idle Mac writes its Lease, and its status every five minutes, and asks for nothing. A Node that is deleted is back as
 * soon as the watch tells.
 */
export const createNodeController = (options: NodeOptions) => {
  const { client, config, host, clock, random, log } = options;
  const { nodeName } = config;
  const ready = Promise.withResolvers<void>();
  const cache = createInformer({
    client,
    resource: nodes,
    // The only list of Nodes that a Node may ask for.
    fieldSelector: `metadata.name=${nodeName}`,
    transform: withoutManagedFields,
    clock,
    random,
    log,
  });
  /** What our last write came to, until the watch tells of the Node: without it the next look would repeat the write. */
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
    // What the watch has brought meanwhile is this write, or newer.
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
    /** Resolves when the Node is registered and its status is written, for the first time. */
    ready: ready.promise,
    /** The Node as it was last seen, or written. */
    get node() {
      return current();
    },
    /** Something on the Mac has changed that the Node should say at once. */
    trigger: () => trigger(),
    /** Looks after Node and Lease until `signal` fires. */
    run: async (signal: AbortSignal) => {
      const unwatch = watchStamps(options.stamps, () => trigger());
      const leave = cache.subscribe(() => {
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
      leave();
      unwatch();
    },
  };
};
