import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MachineStatus } from '@tartan/api';
import type { MachineDecision } from '@tartan/provider/decisions';
import fc from 'fast-check';
import {
  aCondition,
  aFleet,
  aHost,
  aMachine,
  anExplainInput,
  aNode,
  aPod,
  aReadyMachine,
  heldBy,
  minutesAgo,
} from '../testing/objects.ts';
import { machineDecisionText } from './decision-text.ts';
import type { ExplainInput, Explanation } from './explanation.ts';
import { explainFleet } from './fleet.ts';
import { explainHost } from './host.ts';
import { explainMachine } from './machine.ts';
import { explainNode } from './node.ts';
import { explainPod } from './pod.ts';

type Parts = Partial<ExplainInput>;
const textOf = ({ decision, next, remedies }: Explanation): string => [decision.text, ...next, ...remedies].join(' ');

describe('explain a machine', () => {
  const held = aHost(
    'h-1',
    { state: 'held', name: 'mac-1', claim: { uid: 'uid-of-mac-1', namedAt: minutesAgo(1), settledAt: minutesAgo(1) } },
    heldBy('mac-1'),
  );
  const ready = (status: MachineStatus = {}) => aReadyMachine('mac-1', 'h-1', status);
  const node = aNode('mac-1', { host: 'h-1' });

  const cases: readonly [
    what: string,
    machine: ReturnType<typeof aMachine>,
    input: Parts,
    word: string,
    says: RegExp,
  ][] = [
    [
      'not observed yet',
      aMachine('mac-1', {}, { more: { finalizers: [] } }),
      {},
      'add finalizer',
      /No manager has observed/,
    ],
    [
      'paused',
      aMachine('mac-1', {}, { more: { annotations: { 'cluster.x-k8s.io/paused': '' } } }),
      {},
      'pause',
      /paused annotation/,
    ],
    [
      'no cluster',
      aMachine('mac-1', {}, { more: { labels: { 'cluster.x-k8s.io/cluster-name': 'c' }, ownerReferences: [] } }),
      {},
      'await cluster',
      /has no owner yet/,
    ],
    [
      'part of no Cluster',
      aMachine('mac-1', {}, { more: { labels: {}, ownerReferences: [] } }),
      {},
      'refuse',
      /neither a Mac nor the identity of a Node.*Create a Machine that refers to it/,
    ],
    [
      'in a namespace for which the manager does not work',
      aMachine('mac-1', { conditions: [aCondition('Allowed', 'False', 'NamespaceNotAllowed')] }),
      {},
      'refuse',
      /add default to --machine-namespaces/,
    ],
    [
      'a Node that is no Mac has its name',
      aMachine('mac-1'),
      { hosts: [aHost('h-9')], nodes: [aNode('mac-1', { host: 'other' })] },
      'refuse',
      /The Node mac-1 is another server/,
    ],
    ['an empty pool', aMachine('mac-1'), {}, 'cannot claim', /There is no Mac at all.*tartan pool/],
    [
      'a pool of others',
      aMachine('mac-1'),
      { hosts: [aHost('h', { type: 'M4-M' })] },
      'cannot claim',
      /1 M4-M with Tahoe free/,
    ],
    [
      'a version in spec.os',
      aMachine('mac-1', {}, { spec: { os: 'macos-tahoe-26.0' } }),
      {},
      'cannot claim',
      /spec\.os holds a version/,
    ],
    ['a Mac is free', aMachine('mac-1'), { hosts: [aHost('h-9')] }, 'reserve', /reserves h-9 next/],
    [
      'it has reserved one',
      aMachine('mac-1', { serverID: 'h-9' }),
      { hosts: [aHost('h-9')] },
      'take',
      /claims the reserved Mac/,
    ],
    ['its MacHost is gone', aMachine('mac-1', { serverID: 'h-9' }), {}, 'await host', /There is no MacHost h-9/],
    [
      'being bootstrapped',
      aMachine(
        'mac-1',
        { serverID: 'h-1', bootstrapAttempts: 2 },
        { spec: { providerID: 'scw-applesilicon://fr-par-1/h-1' } },
      ),
      { hosts: [held] },
      'bootstrap',
      /over SSH \(2 failures so far\)/,
    ],
    ['ready', ready(), { hosts: [held], nodes: [node] }, 'up to date', /Nothing to do/],
    [
      'its Mac went to another',
      ready(),
      { hosts: [aHost('h-1', {}, heldBy('thief'))] },
      'lost host',
      /held by default\/thief.*Delete its Machine/,
    ],
    ['its Node is gone', ready(), { hosts: [held] }, 're-register', /The Node is gone/],
    [
      'it waits for a turn',
      ready({ desiredHostConfigHash: 'h2' }),
      { hosts: [held], nodes: [node] },
      'no turn',
      /waits for a turn.*tartan roll status macos/,
    ],
    [
      'it has a turn',
      ready({ desiredHostConfigHash: 'h2' }),
      {
        hosts: [held],
        nodes: [node],
        fleets: [
          aFleet('macos', {
            turns: [{ machine: 'mac-1', uid: 'uid-of-mac-1', hash: 'h2', canary: true, grantedAt: minutesAgo(1) }],
          }),
        ],
      },
      'roll',
      /has a turn/,
    ],
    [
      'being deleted',
      { ...ready(), metadata: { ...ready().metadata, deletionTimestamp: minutesAgo(1) } },
      { hosts: [held] },
      'release',
      /The manager releases its Mac/,
    ],
  ];
  for (const [what, machine, input, word, says] of cases)
    test(what, () => {
      const explanation = explainMachine(machine, anExplainInput({ machines: [machine], ...input }));
      assert.equal(explanation.decision.word, word);
      assert.match(textOf(explanation), says);
    });

  test('lists what cannot be read, and takes the pool prefix as a flag', () => {
    const machine = aMachine('mac-1');
    const { unseen } = explainMachine(machine, anExplainInput({ machines: [machine] }));
    assert.match(unseen.join(), /tuist-pool- is assumed/);
    const named = explainMachine(
      machine,
      anExplainInput({
        machines: [machine],
        managerFlags: { defaultPoolPrefix: 'x-', claimNamePrefix: undefined },
        hosts: [aHost('h', { name: 'x-1' })],
      }),
    );
    assert.deepEqual([named.decision.word, named.unseen], ['reserve', []]);
  });

  test('every decision has a text', () => {
    const decisions: readonly MachineDecision[] = [
      { kind: 'ignore' },
      { kind: 'release', poolPrefix: 'p-' },
      { kind: 'await wipe', message: 'm', forMs: 1 },
      { kind: 'await runner', message: 'm' },
      { kind: 'remove runner', id: 7 },
      ...(['no host', 'released', 'skipped', 'host gone'] as const).map(
        (reason) => ({ kind: 'clean up', reason }) as const,
      ),
      { kind: 'await key', message: 'm' },
      { kind: 'detach host', message: 'm' },
      { kind: 'fetch credentials' },
      { kind: 'set provider id' },
      ...(['failure', 'reboot', 'no login'] as const).map(
        (reason) => ({ kind: 'back off', forMs: 1000, reason }) as const,
      ),
      { kind: 'reboot' },
      { kind: 'release failed host', reason: 'BootstrapExhausted', poolPrefix: 'p-' },
      { kind: 'retire token', certificateExpires: 1 },
      { kind: 'roll back', hash: 'h' },
      { kind: 'clear refusal', reason: 'cooldown' },
      { kind: 'uncordon' },
      ...(['not reported', 'waiting for idle', 'refused', 'pausing', 'no plan', 'no key'] as const).map(
        (drift) => ({ kind: 'wait', drift, forMs: 1000 }) as const,
      ),
    ];
    for (const decision of decisions) {
      const { text } = machineDecisionText(decision, {
        name: 'm',
        namespace: 'n',
        memory: {},
        fleet: 'f',
        pods: ['n/p'],
      });
      assert.match(text, /^[A-Z`].*[.!]$|^.*m$/, JSON.stringify(decision));
    }
  });
});

describe('explain a MacHost', () => {
  const release = { poolPrefix: 'tuist-pool-', reason: 'MachineDeleted', requestedAt: minutesAgo(20) } as const;
  const cases: readonly [what: string, host: ReturnType<typeof aHost>, input: Parts, word: string, says: RegExp][] = [
    ['free', aHost('h'), {}, 'report', /free for a machine.*No machine waits/],
    [
      'held',
      aHost('h', { name: 'mac-1' }, heldBy('mac-1')),
      { machines: [aMachine('mac-1', { serverID: 'h', initialization: { provisioned: true } })] },
      'report',
      /its machine decides.*explain mac-1/,
    ],
    [
      'named a moment ago',
      aHost('h', { name: 'mac-1' }, heldBy('mac-1')),
      { machines: [aMachine('mac-1', { serverID: 'h' })] },
      'record name',
      /another cluster might still rename it/,
    ],
    [
      'taken by somebody else',
      aHost('h', { name: 'theirs' }, { ...heldBy('mac-1'), poolPrefix: 'tuist-pool-' }),
      { machines: [aMachine('mac-1', { serverID: 'h' })] },
      'give up',
      /name at Scaleway is theirs.*wipes nothing/,
    ],
    [
      'to be named',
      aHost('h', {}, { ...heldBy('mac-1'), poolPrefix: 'tuist-pool-' }),
      { machines: [aMachine('mac-1', { serverID: 'h' })] },
      'rename',
      /renames the Mac to mac-1/,
    ],
    [
      'of a holder that is gone',
      aHost('h', { state: 'held', name: 'mac-1' }, heldBy('mac-1')),
      {},
      'report',
      /is in no pool and no machine knows it/,
    ],
    [
      'to be wiped',
      aHost('h', { name: 'tuist-releasing-tuist-pool-0123abcd' }, { release }),
      {},
      'request wipe',
      /requests a reinstall at Scaleway \(attempt 1\)/,
    ],
    [
      'in quarantine',
      aHost('h', { quarantine: { count: 1, reason: 'It fails.', until: minutesAgo(-60) } }),
      {},
      'report',
      /In quarantine until 2026-05-01T13:00:00Z\. It fails\./,
    ],
    ['never seen', aHost('h', null), {}, 'report', /has not observed it yet/],
  ];
  for (const [what, host, input, word, says] of cases)
    test(what, () => {
      const explanation = explainHost(host, anExplainInput({ hosts: [host], ...input }));
      assert.equal(explanation.decision.word, word);
      assert.match(textOf(explanation), says);
    });

  test('lists waiting machines and why each cannot use this host', () => {
    const host = aHost('h');
    const machines = [aMachine('a'), aMachine('b', {}, { spec: { type: 'M4-M' } })];
    const { facts } = explainHost(host, anExplainInput({ hosts: [host], machines }));
    assert.deepEqual(facts.slice(-2), [
      { what: 'for a', is: 'suitable' },
      { what: 'for b', is: 'not suitable: other type' },
    ]);
  });
});

describe('explain a Pod', () => {
  const node = aNode('mac-1');
  const waiting = (reason: string): Parts => ({ nodes: [node], notes: [reason] });
  const pending = (reason: string) =>
    aPod('p', 'mac-1', {
      status: {
        phase: 'Pending',
        containerStatuses: [
          {
            name: 'vm',
            image: '',
            imageID: '',
            ready: false,
            restartCount: 0,
            state: { waiting: { reason, message: 'Said so.' } },
          },
        ],
      },
    });
  const deleted = { deletionTimestamp: minutesAgo(10), finalizers: ['tart-kubelet.tuist.dev/vm-cleanup'] };
  const unschedulable = (): ReturnType<typeof aPod> =>
    aPod('p', undefined, {
      status: {
        phase: 'Pending',
        conditions: [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message: '0/1 nodes.' }],
      },
    });
  const cases: readonly [what: string, pod: ReturnType<typeof aPod>, input: Parts, word: string, says: RegExp][] = [
    ['runs', aPod('p', 'mac-1'), { nodes: [node] }, 'running', /virtual machine runs/],
    [
      'waits for a slot',
      pending('WaitingForSlot'),
      waiting('x'),
      'WaitingForSlot',
      /starts when one of them ends\. Said so\./,
    ],
    ['pulls', pending('Pulling 40 %'), waiting('x'), 'Pulling 40 %', /is being pulled/],
    ['reports an unknown reason', pending('constructor'), waiting('x'), 'constructor', /^Said so\./],
    ['no Node takes it', unschedulable(), { nodes: [node] }, 'Unschedulable', /0\/1 nodes/],
    [
      'not observed yet',
      aPod('p', undefined, { status: { phase: 'Pending' } }),
      {},
      'unscheduled',
      /The scheduler has not/,
    ],
    ['its Node is gone', aPod('p', 'gone'), {}, 'node gone', /does not exist\..*pods unstick/],
    ['hangs', aPod('p', 'gone', { metadata: deleted }), {}, 'release', /no agent can remove.*tartan pods unstick/],
    ['is ending', aPod('p', 'mac-1', { metadata: deleted }), { nodes: [node] }, 'ending', /shuts the guest down/],
    [
      'its Node may not be read',
      aPod('p', 'gone', { metadata: deleted }),
      { unreadable: new Set(['nodes'] as const) },
      'ending',
      /shuts the guest down/,
    ],
  ];
  for (const [what, pod, input, word, says] of cases)
    test(what, () => {
      const explanation = explainPod(pod, anExplainInput({ pods: [pod], ...input }));
      assert.equal(explanation.decision.word, word);
      assert.match(textOf(explanation), says);
    });

  test('an unschedulable Pod lists the state of the Macs', () => {
    const pod = aPod('p', undefined);
    const nodes = [node, aNode('mac-2', { ready: false }), aNode('mac-3', { cordoned: true })];
    const pods = [pod, aPod('a', 'mac-1'), aPod('b', 'mac-1')];
    const { facts } = explainPod(pod, anExplainInput({ pods, nodes }));
    assert.deepEqual(facts.at(-1), { what: 'Macs', is: '1 cordoned, 1 full, 1 not Ready' });
  });
});

describe('explain a MacFleet', () => {
  const status = { revision: 'r1' };
  const machines = [aReadyMachine('mac-1', 'h-1', { desiredHostConfigHash: 'h2' })];
  const stop = { reason: 'PushRejected', machine: 'mac-1', message: 'No space left.', at: minutesAgo(3) } as const;
  const cases: readonly [what: string, fleet: ReturnType<typeof aFleet>, parts: Parts, word: string, says: RegExp][] = [
    [
      'nothing to do',
      aFleet('macos', status),
      { machines: [aReadyMachine('mac-1', 'h-1')] },
      'upToDate',
      /nothing to roll/,
    ],
    ['a turn is due', aFleet('macos', status), { machines }, 'canary', /first machine.*Being rolled: mac-1/],
    ['paused', aFleet('macos', status, { paused: true }), { machines }, 'paused', /tartan roll resume macos/],
    [
      'stopped',
      aFleet('macos', { ...status, stalledRevision: 'r1', stop }),
      { machines },
      'stalled',
      /has stopped\. mac-1 refused: No space left/,
    ],
  ];
  for (const [what, fleet, parts, word, says] of cases)
    test(what, () => {
      const nodes = [aNode('mac-1', { host: 'h-1' })];
      const explanation = explainFleet(fleet, anExplainInput({ fleets: [fleet], nodes, ...parts }));
      assert.equal(explanation.decision.word, word);
      assert.match(textOf(explanation), says);
    });
});

test('a Node is explained by its machine, or as a Node without one', () => {
  const node = aNode('mac-1', { host: 'h-1' });
  const machines = [aReadyMachine('mac-1', 'h-1')];
  assert.match(
    explainNode(node, anExplainInput({ nodes: [node], machines })).where,
    /^The Node mac-1 is Ready\. The machine mac-1 is Ready/,
  );
  assert.equal(explainNode(node, anExplainInput({ nodes: [node] })).decision.word, 'no machine');
  const linux = { ...node, metadata: { ...node.metadata, labels: {} } };
  assert.equal(explainNode(linux, anExplainInput({ nodes: [linux] })).decision.word, 'no Mac');
});

test('any status can be explained (property test)', () => {
  const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
  const time = fc.constantFrom('', 'soon', minutesAgo(5), minutesAgo(-5));
  const conditions = fc.array(
    fc.record({
      type: fc.constantFrom('Ready', 'Provisioned', 'Stranded', 'Named'),
      status: fc.constantFrom('True' as const, 'False' as const),
      reason: fc.constantFrom('', 'X', 'toString', 'NoAdoptPoolPrefix'),
      message: fc.string(),
      lastTransitionTime: time,
    }),
  );
  const hostStatus = fc.record(
    {
      state: maybe(fc.constantFrom('pool' as const, 'stranded' as const, 'releasing' as const)),
      name: maybe(fc.constantFrom('m', 'tuist-pool-1', '')),
      since: maybe(time),
      conditions: maybe(conditions),
    },
    { requiredKeys: [] },
  );
  const machineStatus = fc.record(
    {
      serverID: maybe(fc.constantFrom('', 'h', 'other')),
      phase: maybe(fc.constantFrom('Ready' as const, 'Failed' as const)),
      conditions: maybe(conditions),
      desiredHostConfigHash: maybe(fc.constant('h2')),
    },
    { requiredKeys: [] },
  );
  const defined = (value: object): object =>
    Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined));
  fc.assert(
    fc.property(hostStatus, machineStatus, fc.boolean(), fc.boolean(), (ofHost, ofMachine, isHeld, hasNode) => {
      const host = { ...aHost('h', null, isHeld ? heldBy('m') : {}), status: defined(ofHost) };
      const machine = { ...aMachine('m', null), status: defined(ofMachine) };
      const input = anExplainInput({ hosts: [host], machines: [machine], nodes: hasNode ? [aNode('m')] : [] });
      for (const explanation of [explainHost(host, input), explainMachine(machine, input)])
        assert.ok(explanation.decision.text.length > 0 && explanation.where.length > 0);
    }),
    { numRuns: 200 },
  );
});
