import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type Client,
  createClient,
  inProcessTransport,
  leases,
  type Live,
  namespaces,
  nodes,
  type Transport,
} from '@tartan/kube';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { createKubernetes } from '@tartan/sim-kubernetes';
import type { Facts, HostFacts } from '../../facts/host-facts.ts';
import { createRecordingLogger } from '../../identity/testing/recording-logger.ts';
import { flushEventLoop } from '../../identity/testing/flush-event-loop.ts';
import { createNodeController } from '../controller.ts';
import type { Node, NodeConfig } from '../observe.ts';
import { exampleFacts, exampleNodeConfig, fakeHostFacts } from './fixtures.ts';

type Lease = NonNullable<(typeof leases)['ofType']>;

/** A Mac and an embedded Kubernetes in this process, on virtual time, with exactly the permissions of the Mac's Node. */
export interface NodeHarness {
  readonly clock: ManualClock;
  readonly admin: Client;
  readonly facts: { -readonly [Name in keyof Facts]: Facts[Name] };
  /** Overrides `facts`. */
  readonly host: Partial<HostFacts>;
  readonly lines: string[];
  /** `PATCH /api/v1/nodes/mac-1/status`, and so on. */
  readonly requests: string[];
  /** Replaces the server's response; returns `undefined` to let a request through. */
  intercept: (request: string) => Promise<void> | undefined;
  /** Delays the response: the server has executed the request, and the agent gets the response when this resolves. */
  afterRequest: (request: string) => Promise<void> | undefined;
  /** Delays every watch event. */
  beforeWatchEvent: () => Promise<void> | undefined;
  readonly stamps: string;
  start(wanted?: Partial<NodeConfig>): ReturnType<typeof createNodeController>;
  /** Stops the running agent. */
  end(): Promise<void>;
  node(): Promise<Live<Node> | undefined>;
  lease(): Promise<Live<Lease> | undefined>;
  /** Advances time, and runs everything meanwhile, until the condition holds. */
  passUntil(what: string, isSo: () => boolean | Promise<boolean>, step?: number): Promise<true>;
  pass(milliseconds: number, step?: number): Promise<void>;
}

const delayWatch = (
  body: AsyncIterable<Uint8Array>,
  news: () => Promise<void> | undefined,
): AsyncIterable<Uint8Array> => ({
  [Symbol.asyncIterator]: () => {
    const chunks = body[Symbol.asyncIterator]();
    return {
      next: async () => {
        const chunk = await chunks.next();
        await news();
        return chunk;
      },
      return: async () => (await chunks.return?.()) ?? { done: true, value: undefined },
    };
  },
});

export const withNodeHarness = async (body: (harness: NodeHarness) => Promise<void>): Promise<void> => {
  const stamps = await mkdtemp(join(tmpdir(), 'node-'));
  const clock = manualClock();
  const kubernetes = await createKubernetes({ clock, controllers: false });
  const as = (commonName: string, organization: string): Transport =>
    inProcessTransport(kubernetes.handle, { user: { commonName, organizations: [organization] } });
  const admin = createClient(as('admin', 'system:masters'), { clock });
  const metadata = { name: 'kube-node-lease' };
  await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
  const { log, lines } = createRecordingLogger();
  let ending = new AbortController();
  let running: Promise<void> = Promise.resolve();

  const own = as('system:node:mac-1', 'system:nodes');
  const transport: Transport = {
    ...own,
    send: async (request) => {
      const text = `${request.method} ${request.path.split('?')[0]}${request.path.includes('watch=') ? ' (watch)' : ''}`;
      harness.requests.push(text);
      await harness.intercept(text);
      const response = await own.send(request);
      if (text.endsWith('(watch)'))
        return { ...response, body: delayWatch(response.body, () => harness.beforeWatchEvent()) };
      await harness.afterRequest(text);
      return response;
    },
  };
  const unlessGone = async <T>(found: Promise<T>): Promise<T | undefined> => found.catch(() => undefined);

  const harness: NodeHarness = {
    clock,
    admin,
    facts: { ...exampleFacts },
    host: {},
    lines,
    requests: [],
    intercept: () => undefined,
    afterRequest: () => undefined,
    beforeWatchEvent: () => undefined,
    stamps,
    start: (wanted = {}) => {
      ending = new AbortController();
      const controller = createNodeController({
        client: createClient(transport, { clock }),
        config: { ...exampleNodeConfig, ...wanted },
        host: { ...fakeHostFacts(harness.facts), ...harness.host },
        stamps,
        clock,
        random: () => 0.5,
        log,
      });
      running = controller.run(ending.signal);
      return controller;
    },
    end: async () => {
      ending.abort();
      await running;
    },
    node: () => unlessGone(admin.get(nodes, { name: 'mac-1' })),
    lease: () => unlessGone(admin.get(leases, { namespace: 'kube-node-lease', name: 'mac-1' })),
    passUntil: (what, isSo, step = 1_000) =>
      eventually(what, async () => {
        await flushEventLoop(10);
        if (await isSo()) return true;
        clock.advance(step);
        return false;
      }),
    pass: async (milliseconds, step = milliseconds) => {
      for (let left = milliseconds; left > 0; left -= step) {
        await flushEventLoop(20);
        clock.advance(Math.min(step, left));
        await flushEventLoop(20);
      }
    },
  };
  try {
    await body(harness);
  } finally {
    await harness.end();
    kubernetes.stop();
    await rm(stamps, { recursive: true });
  }
};
