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
import { createPodController } from '../controller.ts';
import { idleDeps } from '../testing/idle-deps.ts';
import {
  type Choose,
  type ControlledTransport,
  createControlledTransport,
  forEachChoice,
} from '../testing/interleavings.ts';

const namespace = 'runners';

/** What others do to the Pod of one name. */
type PodOperation = 'create' | 'create ended' | 'delete' | 'kill' | 'label' | 'vanish' | 'expire';

describe('the agent keeps no deleted Pod, in any order of responses and watch events', {
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
      // Somebody takes the finalizer away, and the Pod with it.
      vanish: async () => {
        await admin.patch(pods, at, { type: 'merge', body: { metadata: { finalizers: null } } });
        await admin.delete(pods, at, { gracePeriodSeconds: 0 });
      },
      expire: async () => line().expireWatch(),
    };
    // What cannot be done (the Pod is there, or not) is not done.
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
      waits: agent.oldestWaitingSince() !== undefined,
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
