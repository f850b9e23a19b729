import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { finalizers, macTaint } from '@tartan/api';
import {
  type Client,
  createClient,
  createLogger,
  inProcessTransport,
  KubeError,
  namespaces,
  pods,
  serviceAccounts,
  type Transport,
  type TransportResponse,
} from '@tartan/kube';
import { type Clock, type ManualClock, manualClock } from '@tartan/kube/clock';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import type { Tart } from '@tartan/tart';
import fc from 'fast-check';
import { createHolds } from '../../images/holds.ts';
import { createPodController, type PodControllerOptions } from '../controller.ts';

/** Picks one of `count` options. */
type Choose = (count: number) => number;

/** A possible next event. */
interface Step {
  readonly what: string;
  readonly run: () => unknown;
}

/** Calls `scenario` for each sequence of choices with at most `most` choices other than the first. Returns the number of sequences. */
const forEachChoice = async (most: number, scenario: (choose: Choose) => Promise<void>): Promise<number> => {
  let plan: { taken: number; readonly of: number }[] = [];
  for (let count = 1; ; count += 1) {
    const path: typeof plan = [];
    await scenario((of) => {
      const taken = plan[path.length]?.taken ?? 0;
      const isFree = path.filter((before) => before.taken > 0).length < most;
      path.push({ taken, of: isFree ? of : 1 });
      return taken;
    });
    while ((path.at(-1)?.taken ?? 0) + 1 === path.at(-1)?.of) path.pop();
    const last = path.at(-1);
    if (last === undefined) return count;
    last.taken += 1;
    plan = path;
  }
};

const flushMicrotasks = async (): Promise<void> => {
  for (let turn = 0; turn < 8; turn += 1) await setImmediate();
};

/** A transport that holds requests, responses and watch events until the test picks one. Only watch events keep their order. */
interface ControlledTransport {
  readonly client: Client;
  /** What has happened, for failure messages. */
  readonly trace: readonly string[];
  /** Ends the watch; the server answers the next watch with 410, so that the client lists. */
  expireWatch(): void;
  /** Runs all events one by one in the chosen order; `script` keeps its own order. */
  run(script: readonly Step[], choose: Choose): Promise<void>;
  /** Holds nothing from now on. */
  releaseAll(): void;
}

const createControlledTransport = (inner: Transport, clock: ManualClock): ControlledTransport => {
  const waiting: Step[] = [];
  const trace: string[] = [];
  let isOpen = false;
  let hasExpired = false;
  let connection = new AbortController();
  const waitForTurn = (what: string): Promise<void> =>
    isOpen ? Promise.resolve() : new Promise((resolve) => waiting.push({ what, run: resolve }));

  async function* events(body: AsyncIterable<Uint8Array>, { signal }: AbortController): AsyncGenerator<Uint8Array> {
    const broken = new Promise<never>((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new KubeError('unreachable', 'the connection broke')));
    });
    broken.catch(() => {});
    const chunks = body[Symbol.asyncIterator]();
    try {
      for (;;) {
        const { done, value } = await Promise.race([chunks.next(), broken]);
        if (done === true) return;
        await Promise.race([waitForTurn('event'), broken]);
        yield value;
      }
    } finally {
      void chunks.return?.();
    }
  }

  const send: Transport['send'] = async (request): Promise<TransportResponse> => {
    const url = new URL(request.path, 'https://server');
    const what = `${request.method} ${url.pathname.split('/').slice(6).join('/')}`;
    if (url.searchParams.has('watch')) {
      if (hasExpired) {
        hasExpired = false;
        const body = JSON.stringify({ kind: 'Status', reason: 'Expired', message: 'too old', code: 410 });
        return {
          code: 410,
          headers: {},
          body: (async function* () {
            yield Buffer.from(body);
          })(),
        };
      }
      const answer = await inner.send(request);
      return { ...answer, body: events(answer.body, connection) };
    }
    await waitForTurn(what);
    const { body, ...answer } = await inner.send(request);
    const chunks: Uint8Array[] = [];
    for await (const chunk of body) chunks.push(chunk);
    await waitForTurn(`answer ${answer.code} to ${what}`);
    return {
      ...answer,
      body: (async function* () {
        yield* chunks;
      })(),
    };
  };

  return {
    client: createClient({ ...inner, send }, { clock }),
    trace,
    expireWatch: () => {
      hasExpired = true;
      connection.abort();
      connection = new AbortController();
    },
    run: async (script, choose) => {
      const rest = [...script];
      // Time for backoffs, pauses between writes, and the resync.
      const pauses = [300, 2_000, 5_000, 60_000, 301_000, 301_000];
      for (;;) {
        await flushMicrotasks();
        const [next] = rest;
        const options = [...waiting, ...(next ? [next] : [])];
        if (options.length === 0) {
          const pause = pauses.shift();
          if (pause === undefined) return;
          clock.advance(pause);
          continue;
        }
        const chosen = options[options.length === 1 ? 0 : choose(options.length)];
        if (chosen === undefined) throw new Error('choose returned an invalid index');
        // Skipped steps go to the end of the queue: one choice is a long delay.
        const passedOver = waiting.splice(0, options.indexOf(chosen));
        if (chosen === next) rest.shift();
        else waiting.shift();
        waiting.push(...passedOver);
        trace.push(chosen.what);
        await chosen.run();
      }
    },
    releaseAll: () => {
      isOpen = true;
      for (const { run } of waiting.splice(0)) run();
    },
  };
};

const never = <T>(): Promise<T> => new Promise(() => {});
const unexpected = (what: string) => (): never => {
  throw new Error(`unexpected call: ${what}`);
};
const tart: Tart = {
  version: unexpected('tart --version'),
  list: unexpected('tart list'),
  get: unexpected('tart get'),
  pull: unexpected('tart pull'),
  clone: unexpected('tart clone'),
  set: unexpected('tart set'),
  run: unexpected('tart run'),
  stop: unexpected('tart stop'),
  delete: unexpected('tart delete'),
  ip: unexpected('tart ip'),
  exec: unexpected('tart exec'),
};

/** A Mac that never gets an image: Pods wait and are deleted, and the agent only calls the server. */
const idleDeps = (client: Client, nodeName: string, clock: Clock): PodControllerOptions => ({
  client,
  nodeName,
  clock,
  workers: 8,
  vmSlots: 100,
  hostIP: () => '10.0.0.1',
  agentVersion: 'v0.0.0-test',
  tart,
  tartPaths: ['/nowhere/tart'],
  vmsFolder: '/nowhere/vms',
  dhcpLeases: '/nowhere/leases',
  processes: { list: async () => [], find: async () => undefined },
  journal: {
    list: async () => ({ uids: [], records: [], problems: [] }),
    read: async () => undefined,
    write: unexpected('a record'),
    remove: async () => {},
  },
  ensureGolden: never,
  pullCredentials: async () => ({ credentials: undefined, problems: [] }),
  markGoldenUsed: () => {},
  holds: createHolds(),
  guests: {
    prepare: unexpected('a guest'),
    renewTokens: async () => undefined,
    result: async () => undefined,
    runnerMarkers: unexpected('markers'),
    statusFolder: () => '/nowhere/status',
    remove: async () => {},
    list: async () => [],
  },
  runs: {
    start: unexpected('a start'),
    watch: unexpected('a process'),
    lastRun: async () => ({ started: false, ending: { kind: 'unknown' } }),
    undoStart: unexpected('a start'),
    finishLog: async () => {},
    isLogFinished: () => true,
    removeLogs: async () => {},
  },
  startRecorder: { recordRefusal: async () => {}, recordSuccess: async () => {} },
  session: { exists: async () => true, ensure: async () => {} },
  events: { event: () => {} },
  random: () => 0.5,
  log: createLogger({ write: () => {}, clock, level: 'error' }),
});

const namespace = 'runners';

/** What other clients do to the Pod of one name. */
type PodOperation = 'create' | 'create ended' | 'delete' | 'kill' | 'label' | 'vanish' | 'expire';

describe('the agent keeps no deleted Pod, in any order of responses and watch events', () => {
  let kubernetes: Kubernetes;
  let clock: ManualClock;
  let transport: Transport;
  let admin: Client;
  let macs = 0;

  before(async () => {
    clock = manualClock();
    kubernetes = await createKubernetes({ clock, controllers: false });
    transport = inProcessTransport(kubernetes.handle, {
      user: { commonName: 'admin', organizations: ['system:masters'] },
    });
    admin = createClient(transport, { clock });
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    const metadata = { name: 'default', namespace };
    await admin.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata });
  });
  after(() => kubernetes.stop());

  const deedsOn = (nodeName: string, line: () => ControlledTransport) => {
    const name = `pod-on-${nodeName}`;
    const at = { namespace, name };
    const create = (held: readonly string[]) =>
      admin.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { ...at, finalizers: [...held] },
        spec: {
          nodeName,
          tolerations: [{ key: macTaint.key, operator: 'Exists' }],
          containers: [{ name: 'vm', image: 'ghcr.io/example/macos:26' }],
        },
      });
    const deeds: Record<PodOperation, () => Promise<unknown>> = {
      create: () => create([]),
      'create ended': async () => {
        await create([finalizers.vmCleanup]);
        const body = { status: { phase: 'Succeeded' } };
        await admin.patch(pods, at, { type: 'merge', body }, { subresource: 'status' });
      },
      delete: () => admin.delete(pods, at),
      kill: () => admin.delete(pods, at, { gracePeriodSeconds: 0 }),
      label: () => admin.patch(pods, at, { type: 'merge', body: { metadata: { labels: { a: `${macs}` } } } }),
      // Removes the finalizer, and so the Pod.
      vanish: async () => {
        await admin.patch(pods, at, { type: 'merge', body: { metadata: { finalizers: null } } });
        await admin.delete(pods, at, { gracePeriodSeconds: 0 });
      },
      expire: async () => line().expireWatch(),
    };
    // Impossible operations (the Pod exists, or not) are ignored.
    return (deed: PodOperation) => ({ what: deed, run: () => deeds[deed]().catch(() => {}) });
  };

  const play = async (first: readonly PodOperation[], script: readonly PodOperation[], choose: Choose) => {
    const nodeName = `mac-${++macs}`;
    const line = createControlledTransport(transport, clock);
    const deed = deedsOn(nodeName, () => line);
    for (const each of first) await deed(each).run();
    const agent = createPodController(idleDeps(line.client, nodeName, clock));
    const stop = new AbortController();
    const running = agent.run(stop.signal);
    await line.run(script.map(deed), choose);
    const { items } = await admin.list(pods, { fieldSelector: `spec.nodeName=${nodeName}` });
    const seen = {
      known: agent.lister.list().map(({ metadata }) => metadata?.uid),
      waits: agent.lister.oldestWaitingSince() !== undefined,
    };
    stop.abort();
    line.releaseAll();
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    await running;
    const story = line.trace.join('\n');
    assert.deepEqual(
      seen.known,
      items.map(({ metadata }) => metadata.uid),
      story,
    );
    assert.equal(
      seen.waits,
      items.some(({ status }) => (status?.phase ?? 'Pending') === 'Pending'),
      story,
    );
    for (const { metadata } of items)
      await deed('vanish')
        .run()
        .then(() => metadata);
  };

  const scenarios: [first: readonly PodOperation[], script: readonly PodOperation[]][] = [
    [['create ended', 'kill'], []],
    [['create ended'], ['kill']],
    [['create ended', 'kill'], ['expire']],
    [['create'], ['kill']],
    [['create', 'label'], ['vanish']],
    [['create ended', 'kill'], ['create']],
  ];
  for (const [first, script] of scenarios)
    it(`${first.join(', ')}; then ${script.join(', ') || 'nothing'}: in every order with up to two delays`, async () => {
      const orders = await forEachChoice(2, (choose) => play(first, script, choose));
      assert.ok(orders > 10, `${orders} orders`);
    });

  it('random operations of other clients, in any order', () => {
    const deed = fc.constantFrom<PodOperation[]>(
      'create',
      'create ended',
      'delete',
      'kill',
      'label',
      'vanish',
      'expire',
    );
    const property = fc.asyncProperty(
      fc.array(deed, { maxLength: 8 }),
      fc.array(fc.nat(1000), { minLength: 80, maxLength: 80 }),
      (script, choices) => {
        let choice = 0;
        return play(['create ended'], script, (count) => (choices[choice++] ?? 0) % count);
      },
    );
    return fc.assert(property, { numRuns: 60 });
  });
});
