import {
  again,
  type Client,
  createController,
  createWatchCache,
  createWorkQueue,
  fromCache,
  itsOwnKey,
  type Live,
  type Logger,
  nodes,
  type Outcome,
  settled,
  type Source,
  withoutManagedFields,
} from '@tartan/kube';
import type { Clock, Random } from '@tartan/kube/clock';
import { act } from './act.ts';
import { complaintsAbout } from './complaints.ts';
import { decide } from './decide.ts';
import type { HostFacts } from './host-facts.ts';
import { createKnownFacts } from './known-facts.ts';
import { renewLease } from './lease.ts';
import { createObserve } from './observe.ts';
import type { Node } from './snapshot.ts';
import type { Wanted } from './wanted.ts';
import { watchStamps } from './watch-stamps.ts';

export interface NodeOptions {
  /** As `system:node:<name>`, with that identity's rights and no others. */
  readonly client: Client;
  readonly wanted: Wanted;
  readonly host: HostFacts;
  /** Where the stamps of the host steps lie. */
  readonly stamps: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
}

export interface NodeController {
  /** Resolves when the Node is registered and its status is written, for the first time. */
  readonly ready: Promise<void>;
  /** The Node as it was last seen, or written. */
  readonly node: Live<Node> | undefined;
  /** Something on the Mac has changed that the Node should say at once. */
  nudge(): void;
  /** Looks after Node and Lease until `signal` fires. */
  run(signal: AbortSignal): Promise<void>;
}

/** How often the Mac is looked at. Costs no request as long as nothing has changed. */
const lookMs = 10_000;

/** The Node is there although the watch has not told of it yet: it will. */
const soonMs = 1_000;

/** A failing API server is asked again at least this often: with the queue's own limit a Node could stay away for a quarter of an hour. */
const backoff = { baseMs: 100, maxMs: 30_000 };

/**
 * Looks after the Node and its Lease.
 *
 * Flow: a watch on the one Node, and a look at the Mac every ten seconds → decide → one write → decide again, until it says everything.
 * Guarantees: an idle Mac writes its Lease, and its status every five minutes, and asks for nothing. A Node that is deleted is back as
 * soon as the watch tells.
 */
export const createNodeController = (options: NodeOptions): NodeController => {
  const { client, wanted, host, clock, random, log } = options;
  const { nodeName } = wanted;
  const ready = Promise.withResolvers<void>();
  const cache = createWatchCache({
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
  let written: Live<Node> | undefined;
  let told = 0;
  const current = (): Live<Node> | undefined => written ?? cache.get(nodeName);
  const facts = createKnownFacts(host, clock, log);
  const observe = createObserve({ current, facts, wanted, stamps: options.stamps, clock, log });
  const said = new Set<string>();
  const nudges = new Set<() => void>();

  const complain = (texts: readonly string[]): void => {
    for (const problem of texts)
      if (!said.has(problem)) log.warn('Something about the Node cannot be mended from here', { problem });
    said.clear();
    for (const text of texts) said.add(text);
  };

  const reconcile = async (_: string, signal: AbortSignal): Promise<Outcome> => {
    const snapshot = await observe(signal);
    if (signal.aborted) return settled;
    complain(complaintsAbout(snapshot));
    const decision = decide(snapshot);
    if (decision.kind === 'hold') {
      ready.resolve();
      return again(Math.max(0, Math.min(lookMs, decision.until - snapshot.now)));
    }
    const before = told;
    const answer = await act(decision, { client, nodeName, signal });
    // What the watch has told meanwhile is this write, or newer.
    if (told === before) written = answer;
    if (decision.kind === 'register') log.info('The Node is registered', { node: nodeName });
    return again(answer === undefined ? soonMs : 0);
  };

  const nudged: Source = (enqueue) => {
    const look = (): void => enqueue(nodeName);
    nudges.add(look);
    look();
    return () => nudges.delete(look);
  };
  const controller = createController({
    name: 'node',
    reconcile,
    sources: [fromCache(cache, itsOwnKey), nudged],
    queue: () => createWorkQueue({ clock, backoff }),
    clock,
    log,
  });

  const nudge = (): void => {
    for (const each of nudges) each();
  };

  return {
    ready: ready.promise,
    get node() {
      return current();
    },
    nudge,
    run: async (signal) => {
      const unwatch = watchStamps(options.stamps, nudge);
      const leave = cache.subscribe(() => {
        told += 1;
        written = undefined;
      });
      const afterFirstList = async (): Promise<void> => {
        await Promise.race([cache.synced, fired(signal)]);
        await controller.run(signal);
      };
      const nodeUID = (): string | undefined => current()?.metadata.uid;
      await Promise.all([
        cache.run(signal),
        afterFirstList(),
        renewLease({ client, nodeName, nodeUID, clock, log }, signal),
      ]);
      leave();
      unwatch();
    },
  };
};

const fired = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
