import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { macTaint } from '@tartan/api';
import type { Live } from '@tartan/kube';
import fc from 'fast-check';
import type { Facts } from '../facts/host-facts.ts';
import { decide, type Decision, unfixableProblems } from './decide.ts';
import type { Node, NodeCondition, Snapshot } from './observe.ts';
import { exampleFacts, exampleNodeConfig, storedNode } from './testing/fixtures.ts';

const now = Date.parse('2026-06-01T12:00:00Z');
const unregistered: Snapshot = {
  now,
  config: exampleNodeConfig,
  node: undefined,
  facts: exampleFacts,
  hostConfigHash: 'abc',
};

const merged = (before: object = {}, changes: object = {}): object => {
  const after = Object.entries({ ...before, ...changes }).filter(([, value]) => value !== null);
  return Object.fromEntries(after);
};

/** The Node after a decision, as a server would store it. */
const applied = (node: Live<Node> | undefined, decision: Decision): Live<Node> | undefined => {
  if (decision.kind === 'register') return storedNode(decision.node);
  if (node === undefined || decision.kind === 'done') return node;
  switch (decision.kind) {
    case 'set provider ID':
      return { ...node, spec: { ...node.spec, providerID: decision.providerID } };
    case 'patch metadata':
      return {
        ...node,
        metadata: {
          ...node.metadata,
          labels: merged(node.metadata.labels, decision.metadata.labels) as Record<string, string>,
          annotations: merged(node.metadata.annotations, decision.metadata.annotations) as Record<string, string>,
        },
      };
    case 'patch status': {
      const { conditions = [], ...rest } = decision.status;
      const kept = (node.status?.conditions ?? []).filter(({ type }) => !conditions.some((each) => each.type === type));
      const offer = (list: 'capacity' | 'allocatable') => ({ [list]: { ...node.status?.[list], ...rest[list] } });
      const status = { ...node.status, ...rest, ...offer('capacity'), ...offer('allocatable') };
      return { ...node, status: { ...status, conditions: [...kept, ...conditions] } };
    }
  }
};

const registered = (snapshot: Snapshot = unregistered): Live<Node> =>
  applied(undefined, decide(snapshot)) ?? assert.fail();
const known: Snapshot = { ...unregistered, node: registered() };
const withNode = (change: (node: Live<Node>) => Live<Node>): Snapshot => ({ ...known, node: change(registered()) });
const withSpec = (spec: Node['spec']): Snapshot => withNode((node) => ({ ...node, spec }) as Live<Node>);
const condition = (node: Node | undefined, type: string): NodeCondition =>
  node?.status?.conditions?.find((each) => each.type === type) ?? assert.fail(`no condition ${type}`);

const table: readonly [string, Snapshot, Decision['kind']][] = [
  ['a Node that is not there is registered', unregistered, 'register'],
  ['an up-to-date Node is not written', known, 'done'],
  ['no provider id is filled in', withNode((node) => ({ ...node, spec: { taints: [] } })), 'set provider ID'],
  ['an empty provider id is filled in', withNode((node) => ({ ...node, spec: { providerID: '' } })), 'set provider ID'],
  [
    'another provider id is never overwritten',
    withNode((node) => ({ ...node, spec: { providerID: 'other://1' } })),
    'done',
  ],
  [
    'without --provider-id the provider ID is left alone',
    { ...known, config: { ...exampleNodeConfig, providerID: undefined }, node: { ...registered(), spec: {} } },
    'done',
  ],
  [
    'somebody else says Unknown of it',
    withNode((node) => ({ ...node, status: { ...node.status, conditions: [] } })),
    'patch status',
  ],
  ['no status at all', withNode((node) => ({ ...node, status: {} })), 'patch status'],
  ['another summary', { ...known, hostConfigHash: 'def' }, 'patch metadata'],
  ['stamps that cannot be read', { ...known, hostConfigHash: undefined }, 'done'],
  [
    'a label of ours is missing',
    withNode((node) => ({ ...node, metadata: { ...node.metadata, labels: {} } })),
    'patch metadata',
  ],
  ['a cordon is left alone', withNode((node) => ({ ...node, spec: { ...node.spec, unschedulable: true } })), 'done'],
  ['taints of others are left alone', withNode((node) => ({ ...node, spec: { ...node.spec, taints: [] } })), 'done'],
  ['the fifth minute has passed', { ...known, now: now + 300_000 }, 'patch status'],
  ['the fifth minute has not passed', { ...known, now: now + 299_000 }, 'done'],
  ['the clock was set back by hours', { ...known, now: now - 7_200_000 }, 'patch status'],
  [
    'a virtual machine has started, and whether a Mac is busy must be known (INC-13)',
    { ...known, facts: { ...exampleFacts, slots: { taken: 2, total: 2 } } },
    'patch status',
  ],
  [
    'free space has changed a little',
    { ...known, facts: { ...exampleFacts, disk: { freeBytes: 2 ** 36, totalBytes: 460 * 2 ** 30 } } },
    'done',
  ],
  ['an image was pulled', { ...known, facts: { ...exampleFacts, images: [] } }, 'patch status'],
  [
    'a fact is not known any more',
    { ...known, facts: { ...exampleFacts, images: undefined, address: undefined } as never },
    'done',
  ],
  [
    'features that a server drops are no reason to write',
    withNode((node) => ({ ...node, status: { ...node.status, declaredFeatures: [] } })),
    'done',
  ],
];

describe('decisions about the Node', () => {
  for (const [title, snapshot, kind] of table) test(title, () => assert.equal(decide(snapshot).kind, kind));

  test('registers with labels, taint, provider ID, status and host config hash in one write', () => {
    const decision = decide(unregistered);
    assert.ok(decision.kind === 'register');
    const { apiVersion, kind, metadata, spec, status } = decision.node;
    assert.deepEqual([apiVersion, kind], ['v1', 'Node']);
    assert.deepEqual(metadata?.labels, {
      'tuist.dev/golden-0123456789abcdef': 'true',
      'tuist.dev/fleet': 'runners',
      'kubernetes.io/os': 'darwin',
      'kubernetes.io/arch': 'arm64',
      'kubernetes.io/hostname': 'mac-1',
      'tuist.dev/runtime': 'tart',
    });
    assert.deepEqual(metadata?.annotations, {
      'tuist.dev/host-config-hash': 'abc',
      'tuist.dev/agent-version': 'v0.1.0',
    });
    assert.deepEqual(spec, {
      taints: [{ key: 'tuist.dev/macos', value: 'true', effect: 'NoSchedule' }],
      providerID: 'scw-applesilicon://fr-par-1/1111',
    });
    const offer = { cpu: '8', memory: '14Gi', pods: '3', 'ephemeral-storage': '460Gi' };
    assert.deepEqual([status?.capacity, status?.allocatable], [offer, offer]);
    assert.deepEqual(status?.addresses, [{ type: 'InternalIP', address: '10.0.0.7' }]);
    assert.deepEqual(status?.daemonEndpoints, { kubeletEndpoint: { Port: 10_250 } });
    assert.deepEqual(status?.declaredFeatures, ['ExtendWebSocketsToKubelet']);
    assert.equal(status?.nodeInfo?.kubeletVersion, 'v1.36.3');
    assert.equal(status?.nodeInfo?.containerRuntimeVersion, 'tart://2.32.1');
    assert.deepEqual(status?.images, [{ names: ['ghcr.io/a/b@sha256:1'], sizeBytes: 30 * 2 ** 30 }]);
    const said = status?.conditions?.map(({ type, status: is }) => `${type}=${is}`);
    const pressures = ['MemoryPressure=False', 'DiskPressure=False', 'PIDPressure=False'];
    assert.deepEqual(said, [
      ...pressures,
      'GUISession=True',
      'VMSlots=True',
      'VMStart=True',
      'GuestAddresses=True',
      'Ready=True',
    ]);
  });

  const unnamed = { ...exampleNodeConfig, providerID: undefined };
  test('registers without a provider ID if there is none', () => {
    assert.deepEqual(registered({ ...unregistered, config: unnamed }).spec, { taints: [{ ...macTaint }] });
  });

  const taint = /lacks the taint/;
  const provider = /provider id of another server/;
  const { spec: _, ...unspecified } = registered();
  const problems: readonly [string, Snapshot, readonly RegExp[]][] = [
    ['no Node', unregistered, []],
    ['a Node as it was registered', known, []],
    ['a Node without a spec', { ...known, node: unspecified }, [taint]],
    ['only the taint of somebody else', withSpec({ taints: [{ key: 'a', effect: 'NoSchedule' }] }), [taint]],
    ['no provider ID', withSpec({ taints: [{ key: 'a', effect: 'NoSchedule' }, { ...macTaint }] }), []],
    ['the provider ID of another server', withSpec({ providerID: 'other' }), [provider, taint]],
    ['an agent that knows no provider ID', { ...known, config: unnamed }, []],
  ];
  for (const [what, snapshot, expected] of problems)
    test(`${what}: ${expected.length} problems that the agent cannot fix`, () => {
      const found = unfixableProblems(snapshot);
      assert.equal(found.length, expected.length);
      for (const [at, problem] of expected.entries()) assert.match(found[at] ?? '', problem);
    });

  test('writes the status before the host config hash', () => {
    const snapshot = { ...known, hostConfigHash: 'def', facts: { ...exampleFacts, guiSession: false } };
    const first = decide(snapshot);
    assert.equal(first.kind, 'patch status');
    const node = applied(snapshot.node, first);
    assert.equal(node?.metadata.annotations?.['tuist.dev/host-config-hash'], 'abc');
    assert.equal(decide({ ...snapshot, node }).kind, 'patch metadata');
  });

  test('only the parts of the status that changed are written', () => {
    const decision = decide({ ...known, facts: { ...exampleFacts, address: '10.0.0.8' } });
    assert.ok(decision.kind === 'patch status');
    assert.deepEqual(decision.status, { addresses: [{ type: 'InternalIP', address: '10.0.0.8' }] });
  });

  test('lastTransitionTime changes only with the status of a condition', () => {
    const later = now + 60_000;
    const decision = decide({ ...known, now: later, facts: { ...exampleFacts, guiSession: false } });
    const node = applied(known.node, decision);
    assert.equal(condition(node, 'GUISession').lastTransitionTime, '2026-06-01T12:01:00Z');
    assert.equal(condition(node, 'Ready').lastTransitionTime, '2026-06-01T12:00:00Z');
    assert.equal(condition(node, 'Ready').lastHeartbeatTime, '2026-06-01T12:01:00Z');
  });

  test('keeps conditions of others', () => {
    const foreign = { type: 'NetworkUnavailable', status: 'False', reason: 'x', message: '' };
    const snapshot = withNode((node) => ({
      ...node,
      status: { ...node.status, conditions: [...(node.status?.conditions ?? []), foreign] },
    }));
    const decision = decide({ ...snapshot, now: now + 600_000 });
    assert.ok(decision.kind === 'patch status');
    assert.ok(!decision.status.conditions?.some(({ type }) => type === foreign.type));
  });

  test('removes obsolete labels of ours, and keeps those of others (INC-44)', () => {
    const labels = { ...registered().metadata.labels, 'tuist.dev/fleet-old': 'x', 'example.com/theirs': 'y' };
    const snapshot = withNode((node) => ({ ...node, metadata: { ...node.metadata, labels } }));
    const decision = decide(snapshot);
    assert.ok(decision.kind === 'patch metadata');
    assert.deepEqual(decision.metadata, { labels: { 'tuist.dev/fleet-old': null } });
    const { labels: _, ...blind } = exampleFacts;
    assert.equal(
      decide({ ...snapshot, facts: blind }).kind,
      'done',
      'not before it is known which ones there should be',
    );
  });

  test('leaves out an invalid label and writes the others (INC-43)', () => {
    const found = { 'tuist.dev/golden-1': 'true', 'tuist.dev/bad key': 'true', 'tuist.dev/x': 'bad value' };
    const decision = decide({ ...known, facts: { ...exampleFacts, labels: found } });
    assert.ok(decision.kind === 'patch metadata');
    assert.deepEqual(decision.metadata.labels, {
      'tuist.dev/golden-1': 'true',
      'tuist.dev/golden-0123456789abcdef': null,
    });
  });

  test('reports constant capacity, whatever runs on the Mac (INC-42)', () => {
    const facts: Facts = { ...exampleFacts, slots: { taken: 2, total: 2 }, guiSession: false };
    assert.equal(registered({ ...unregistered, facts }).status?.capacity?.['cpu'], '8');
  });

  test('is Ready once the version of tart is known', () => {
    const { tartVersion: _, ...facts } = exampleFacts;
    const node = registered({ ...unregistered, facts });
    assert.equal(condition(node, 'Ready').status, 'False');
    assert.equal(condition(node, 'Ready').reason, 'TartKubeletNotReady');
    assert.equal(node.status?.nodeInfo?.containerRuntimeVersion, 'tart://');
  });

  test('without facts has all conditions, and every pressure is False', () => {
    const node = registered({ ...unregistered, facts: {}, hostConfigHash: undefined });
    const said = node.status?.conditions?.map(({ type, status }) => `${type}=${status}`);
    const pressures = ['MemoryPressure=False', 'DiskPressure=False', 'PIDPressure=False'];
    assert.deepEqual(said, [...pressures, 'GUISession=Unknown', 'VMSlots=Unknown', 'VMStart=Unknown', 'Ready=False']);
    assert.deepEqual(
      Object.values(node.status?.nodeInfo ?? {}).filter((value) => typeof value !== 'string'),
      [],
    );
  });
});

const bytes = fc.nat({ max: 2 ** 50 });
const option = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });
const anyFacts = fc.record(
  {
    disk: fc.record({ freeBytes: bytes, totalBytes: bytes }),
    guestDisks: fc.array(fc.record({ vm: fc.string(), usedPercent: fc.double({ min: 0, max: 200, noNaN: true }) })),
    memory: fc.constantFrom('normal', 'warning', 'critical'),
    processes: fc.record({ running: fc.nat(), limit: fc.nat() }),
    guiSession: fc.boolean(),
    slots: fc.record({ taken: fc.nat(3), total: fc.nat(2) }),
    images: fc.array(fc.record({ names: fc.array(fc.string()), sizeBytes: bytes })),
    labels: fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('tuist.dev/a', 'b')), fc.string()),
    runtime: fc.string(),
    address: fc.ipV4(),
  },
  { requiredKeys: [] },
);
const anyNode = option(
  fc.record(
    {
      metadata: fc.record({
        labels: fc.dictionary(fc.string(), fc.string()),
        annotations: fc.dictionary(fc.string(), fc.string()),
      }),
      spec: fc.record(
        { providerID: fc.constantFrom('', 'other://1'), unschedulable: fc.boolean() },
        { requiredKeys: [] },
      ),
      status: fc.record(
        {
          conditions: fc.array(
            fc.record({
              type: fc.constantFrom('Ready', 'DiskPressure', 'X'),
              status: fc.constantFrom('True', 'Unknown'),
              lastHeartbeatTime: fc.string(),
            }),
          ),
          capacity: fc.dictionary(fc.string(), fc.string()),
        },
        { requiredKeys: [] },
      ),
    },
    { requiredKeys: [] },
  ),
);

describe('for any snapshot', () => {
  test('converges in a few writes, each needed, and changes nothing in spec but a missing provider ID', () => {
    fc.assert(
      fc.property(anyFacts, anyNode, option(fc.string()), (facts, given, hostConfigHash) => {
        let node = given === undefined ? undefined : storedNode(given as Node);
        const written: string[] = [];
        for (;;) {
          const decision = decide({ now, config: exampleNodeConfig, facts, node, hostConfigHash });
          if (decision.kind === 'done') {
            assert.ok(decision.until > now && decision.until <= now + 600_000);
            break;
          }
          assert.ok(!written.includes(decision.kind), `${decision.kind} twice`);
          written.push(decision.kind);
          const before = node?.spec;
          node = applied(node, decision);
          if (before?.providerID) assert.equal(node?.spec?.providerID, before.providerID);
          if (before) assert.equal(node?.spec?.unschedulable, before.unschedulable);
        }
        const order = ['register', 'set provider ID', 'patch status', 'patch metadata'];
        assert.deepEqual(
          written,
          order.filter((kind) => written.includes(kind)),
        );
      }),
    );
  });
});
