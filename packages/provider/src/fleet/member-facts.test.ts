import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { annotations, machine } from '@tartan/api';
import type { InformerEvent, KubeObject, Live } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import fc from 'fast-check';
import type { CoreCluster } from '../core/kinds.ts';
import type { Machine, Node } from '../controller-deps.ts';
import { listerOf, machineIndexes, nodeIndexes } from '../indexes.ts';
import { defaultLimits } from './judge-turn.ts';
import { templateFacts } from './machine-deployments.ts';
import { createMemberFacts } from './member-facts.ts';
import { machineFacts } from './observe.ts';

const limits = { ...defaultLimits, retryAfterMs: 60_000 };
const identity = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

/** A cache that a test fills. */
const cacheOf = <T extends KubeObject>() => {
  const objects = new Map<string, Live<T>>();
  const listeners = new Set<(change: InformerEvent<T>) => void>();
  return {
    objects,
    get: (key: string) => objects.get(key),
    subscribe: (listener: (change: InformerEvent<T>) => void) => {
      for (const object of objects.values()) listener({ type: 'added', object });
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    set: (key: string, object: Live<T> | undefined): void => {
      const previous = objects.get(key);
      if (object === undefined) objects.delete(key);
      else objects.set(key, object);
      const change: InformerEvent<T> | undefined =
        object === undefined
          ? previous && { type: 'removed', previous }
          : previous
            ? { type: 'changed', object, previous }
            : { type: 'added', object };
      if (change) for (const listener of listeners) listener(change);
    },
  };
};

/** It waits for its Mac to become idle, if its Node is cordoned. */
const lastAttempt = {
  task: 'Update',
  outcome: 'WaitingForIdle',
  message: '',
  at: '2026-01-01T00:00:00Z',
  count: 0,
} as const;

const machineWith = (name: string, fleetName: string, desired: string, leftOutAt: string | undefined): Machine => ({
  ...machine.make({ metadata: { name }, spec: { fleetName, providerID: `x://${name}` } }),
  metadata: {
    name,
    namespace: 'ns',
    uid: `uid-${name}`,
    ...identity,
    labels: { 'cluster.x-k8s.io/cluster-name': 'c', 'cluster.x-k8s.io/deployment-name': 'd' },
    annotations: { 'cluster.x-k8s.io/cloned-from-name': desired },
  },
  status: {
    initialization: { provisioned: true },
    desiredHostConfigHash: desired,
    lastAttempt,
    ...(leftOutAt !== undefined && {
      leftOut: { actual: 'old', desired, at: leftOutAt, steps: [], message: '' } as never,
    }),
  },
});

const nodeWith = (name: string, hash: string, ready: boolean, unschedulable: boolean): Live<Node> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { name, uid: `node-${name}`, ...identity, annotations: { [annotations.hostConfigHash]: hash } },
  spec: { providerID: `x://${name}`, unschedulable },
  status: { conditions: [{ type: 'Ready', status: ready ? 'True' : 'False' }] },
});

const clusterWith = (paused: boolean): Live<CoreCluster> => ({
  metadata: { name: 'c', namespace: 'ns', uid: 'c', ...identity },
  spec: { paused },
});

const name = fc.constantFrom('a', 'b', 'c', 'd');
const hash = fc.constantFrom('old', 'new');
const step = fc.oneof(
  fc.record({
    kind: fc.constant('machine' as const),
    name,
    fleet: fc.constantFrom('f', 'g'),
    hash,
    leftOut: fc.boolean(),
  }),
  fc.record({ kind: fc.constant('no machine' as const), name }),
  fc.record({ kind: fc.constant('node' as const), name, hash, ready: fc.boolean(), cordoned: fc.boolean() }),
  fc.record({ kind: fc.constant('no node' as const), name }),
  fc.record({ kind: fc.constant('cluster' as const), paused: fc.boolean() }),
  fc.record({ kind: fc.constant('no cluster' as const) }),
  fc.record({ kind: fc.constant('time' as const) }),
  // The controller runs only while this manager leads.
  fc.record({ kind: fc.constantFrom('we lead' as const, 'another leads' as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const node = (cordoned: boolean): Step => ({ kind: 'node', name: 'a', hash: 'old', ready: true, cordoned });
const time: Step = { kind: 'time' };
const examples: Step[][] = [
  // A step that was left out is due again.
  [{ kind: 'machine', name: 'a', fleet: 'f', hash: 'new', leftOut: true }, node(false), time, time],
  // A Node is cordoned, and nothing else of it changes.
  [{ kind: 'machine', name: 'a', fleet: 'f', hash: 'new', leftOut: false }, node(false), node(true)],
  // A machine goes while another manager leads.
  [
    { kind: 'machine', name: 'a', fleet: 'f', hash: 'new', leftOut: false },
    { kind: 'another leads' },
    { kind: 'no machine', name: 'a' },
    { kind: 'we lead' },
  ],
];

/** Empty caches, and the facts that follow them. */
const setUp = () => {
  const clock = manualClock();
  const machines = cacheOf<NonNullable<(typeof machine.resource)['ofType']>>();
  const nodes = cacheOf<Node>();
  const clusters = cacheOf<CoreCluster>();
  const machineLister = () => listerOf([...machines.objects.values()], machineIndexes);
  const nodeLister = () => listerOf([...nodes.objects.values()], nodeIndexes);
  const members = createMemberFacts({
    machines: {
      get: machines.get,
      list: () => machineLister().list(),
      byIndex: (index, value) => machineLister().byIndex(index, value),
      countByIndex: (index) => machineLister().countByIndex(index),
      subscribe: machines.subscribe,
    },
    nodes: {
      get: nodes.get,
      list: () => nodeLister().list(),
      byIndex: (index, value) => nodeLister().byIndex(index, value),
      countByIndex: (index) => nodeLister().countByIndex(index),
      subscribe: nodes.subscribe,
    },
    clusters,
    clock,
    limits,
  });
  return { clock, machines, nodes, clusters, members, machineLister };
};

describe('the facts about the members of a fleet', () => {
  test('are those that a new process would compute, after any changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const { clock, machines, nodes, clusters, members, machineLister } = setUp();
        let end: (() => void) | undefined = members.follow();
        const byName = <T extends { readonly name: string }>(all: readonly T[]): T[] =>
          all.toSorted((x, y) => (x.name < y.name ? -1 : 1));
        const check = (): void => {
          const now = clock.now();
          const memberOf = (each: Machine) => ({
            ...machineFacts(each, nodes.get(each.metadata.name), { now, clusters, ...limits }),
            ...templateFacts(each),
          });
          for (const fleet of ['f', 'g']) {
            const expected = machineLister().byIndex('fleet', `ns/${fleet}`).map(memberOf);
            assert.deepEqual(byName(members.membersOf(`ns/${fleet}`)), byName(expected));
          }
        };
        for (const each of steps) {
          switch (each.kind) {
            case 'machine': {
              const leftOutAt = each.leftOut ? new Date(clock.now()).toISOString() : undefined;
              machines.set(`ns/${each.name}`, machineWith(each.name, each.fleet, each.hash, leftOutAt));
              break;
            }
            case 'no machine':
              machines.set(`ns/${each.name}`, undefined);
              break;
            case 'node':
              nodes.set(each.name, nodeWith(each.name, each.hash, each.ready, each.cordoned));
              break;
            case 'no node':
              nodes.set(each.name, undefined);
              break;
            case 'cluster':
              clusters.set('ns/c', clusterWith(each.paused));
              break;
            case 'no cluster':
              clusters.set('ns/c', undefined);
              break;
            case 'time':
              clock.advance(40_000);
              break;
            case 'another leads':
              end?.();
              end = undefined;
              break;
            case 'we lead':
              end ??= members.follow();
          }
          if (end) check();
        }
      }),
      { numRuns: 500, examples: examples.map((steps) => [steps]) },
    );
  });

  test('are computed again only for a machine that has changed', () => {
    const { machines, clusters, members } = setUp();
    members.follow();
    for (const each of ['a', 'b']) machines.set(`ns/${each}`, machineWith(each, 'f', 'old', undefined));
    clusters.set('ns/c', clusterWith(false));
    const factsOf = (of: string) => members.membersOf('ns/f').find((member) => member.name === of);
    const [a, b] = [factsOf('a'), factsOf('b')];
    const before = members.membersOf('ns/f');
    machines.set('ns/a', machineWith('a', 'f', 'new', undefined));
    clusters.set('ns/c', { ...clusterWith(false), status: { infrastructureReady: true } });
    assert.notEqual(factsOf('a'), a);
    assert.equal(factsOf('b'), b);
    assert.deepEqual(before, [a, b], 'what was returned before does not change');
  });
});
