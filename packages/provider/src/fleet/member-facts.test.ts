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
    subscribe: (listener: (change: InformerEvent<T>) => void) => {
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
  fc.record({ kind: fc.constant('time' as const) }),
  fc.record({ kind: fc.constant('look' as const) }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;
const add = (each: 'a' | 'b' | 'c', leftOut = false): Step => ({
  kind: 'machine',
  name: each,
  fleet: 'f',
  hash: 'new',
  leftOut,
});
const [look, time]: readonly [Step, Step] = [{ kind: 'look' }, { kind: 'time' }];
const node = (cordoned: boolean): Step => ({ kind: 'node', name: 'a', hash: 'old', ready: true, cordoned });
const examples: Step[][] = [
  // The first of several is removed.
  [add('a'), add('b'), add('c'), look, { kind: 'no machine', name: 'a' }, look, { kind: 'no machine', name: 'b' }],
  // A step that was left out is due again.
  [add('a', true), node(false), look, time, time],
  // A Node is cordoned, and nothing else of it changes.
  [add('a'), node(false), look, node(true)],
];

describe('the facts about the members of a fleet', () => {
  test('are those that a new process would compute, after any changes', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const clock = manualClock();
        const machines = cacheOf<NonNullable<(typeof machine.resource)['ofType']>>();
        const nodes = cacheOf<Node>();
        let paused = false;
        const cluster = (): Live<CoreCluster> => ({ metadata: { name: 'c', uid: 'c', ...identity }, spec: { paused } });
        const clusters = { get: (key: string) => (key === 'ns/c' ? cluster() : undefined) };
        const machineLister = () => listerOf([...machines.objects.values()], machineIndexes);
        const nodeLister = () => listerOf([...nodes.objects.values()], nodeIndexes);
        const members = createMemberFacts({
          machines: {
            get: (key) => machineLister().get(key),
            list: () => machineLister().list(),
            byIndex: (index, value) => machineLister().byIndex(index, value),
            subscribe: machines.subscribe,
          },
          nodes: {
            get: (key) => nodeLister().get(key),
            list: () => nodeLister().list(),
            byIndex: (index, value) => nodeLister().byIndex(index, value),
            subscribe: nodes.subscribe,
          },
          clusters,
          clock,
          limits,
        });
        members.follow(
          () => {},
          () => {},
        );
        const byName = <T extends { readonly name: string }>(all: readonly T[]): T[] =>
          all.toSorted((x, y) => (x.name < y.name ? -1 : 1));
        const check = (): void => {
          for (const fleet of ['f', 'g']) {
            const expected = machineLister().byIndex('fleet', `ns/${fleet}`);
            const { facts, templates } = members.membersOf(`ns/${fleet}`);
            const now = clock.now();
            const factsOf = (each: Machine) =>
              machineFacts(each, nodes.objects.get(each.metadata.name), { now, clusters, ...limits });
            assert.deepEqual(byName(facts), byName(expected.map(factsOf)));
            assert.deepEqual(byName(templates), byName(expected.map(templateFacts)));
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
              paused = each.paused;
              break;
            case 'time':
              clock.advance(40_000);
              break;
            case 'look':
              check();
          }
        }
        check();
      }),
      { numRuns: 500, examples: examples.map((steps) => [steps]) },
    );
  });
});
