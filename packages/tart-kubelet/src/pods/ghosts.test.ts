import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { finalizers, macTaint } from '@tartan/api';
import {
  type Client,
  createClient,
  inProcessTransport,
  namespaces,
  pods,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { type ManualClock, manualClock } from '@tartan/kube/clock';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import fc from 'fast-check';
import { createPods } from './controller.ts';
import { idleWorld } from './testing/idle-world.ts';
import { type Choose, createSlowLine, forEachChoice, type SlowLine } from './testing/interleavings.ts';

const namespace = 'runners';

/** What others do to the Pod of one name. */
type Deed = 'create' | 'create ended' | 'delete' | 'kill' | 'label' | 'vanish' | 'expire';

describe('no Pod stays with the agent that the server has no more, whatever order answers and events come in', {
  timeout: 120_000,
}, () => {
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

  const deedsOn = (nodeName: string, line: () => SlowLine) => {
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
    const deeds: Record<Deed, () => Promise<unknown>> = {
      create: () => create([]),
      'create ended': async () => {
        await create([finalizers.vmCleanup]);
        const body = { status: { phase: 'Succeeded' } };
        await admin.patch(pods, at, { type: 'merge', body }, { subresource: 'status' });
      },
      delete: () => admin.delete(pods, at),
      kill: () => admin.delete(pods, at, { gracePeriodSeconds: 0 }),
      label: () => admin.patch(pods, at, { type: 'merge', body: { metadata: { labels: { a: `${macs}` } } } }),
      // Somebody takes the finalizer away, and the Pod with it.
      vanish: async () => {
        await admin.patch(pods, at, { type: 'merge', body: { metadata: { finalizers: null } } });
        await admin.delete(pods, at, { gracePeriodSeconds: 0 });
      },
      expire: async () => line().expire(),
    };
    // What cannot be done (the Pod is there, or not) is not done.
    return (deed: Deed) => ({ what: deed, happen: () => deeds[deed]().catch(() => {}) });
  };

  const play = async (first: readonly Deed[], script: readonly Deed[], choose: Choose) => {
    const nodeName = `mac-${++macs}`;
    const line = createSlowLine(transport, clock);
    const deed = deedsOn(nodeName, () => line);
    for (const each of first) await deed(each).happen();
    const agent = createPods(idleWorld(line.client, nodeName, clock));
    const stop = new AbortController();
    const running = agent.run(stop.signal);
    await line.play(script.map(deed), choose);
    const { items } = await admin.list(pods, { fieldSelector: `spec.nodeName=${nodeName}` });
    const seen = {
      known: agent.views.all().map(({ metadata }) => metadata?.uid),
      waits: agent.oldestWaitingSince() !== undefined,
    };
    stop.abort();
    line.open();
    for (let turn = 0; turn < 20; turn += 1) await setImmediate();
    await running;
    const story = line.told.join('\n');
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
        .happen()
        .then(() => metadata);
  };

  const scenarios: [first: readonly Deed[], script: readonly Deed[]][] = [
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

  it('whatever others do, in any order', () => {
    const deed = fc.constantFrom<Deed[]>('create', 'create ended', 'delete', 'kill', 'label', 'vanish', 'expire');
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
