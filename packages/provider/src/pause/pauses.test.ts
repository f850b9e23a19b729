import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { annotations, kindNames, labels, machine as machineKind, type MacHost, type MacHostSpec } from '@tartan/api';
import { type Client, KubeError, type KubeObject, keyOf, type Live, type ObjectName } from '@tartan/kube';
import { heldBy, hostWith } from '../claim/testing/hosts.ts';
import type { Machine } from '../controller-deps.ts';
import { type CoreCluster, coreClusters } from '../core/kinds.ts';
import {
  cachedPauseReasons,
  clusterNameOf,
  hostPauseReasons,
  moveBlockingPatch,
  pauseReasonsOf,
  readCluster,
  readHostPauseReasons,
  readMachinePauseReasons,
} from './pauses.ts';

const live = { uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
const paused = { annotations: { [annotations.paused]: '' } };

const machineOf = (cluster: string | undefined, metadata: object = {}): Machine => {
  const made = machineKind.make({
    metadata: { name: 'm' },
    spec: { zone: 'fr-par-1', type: 'M2-L', os: 'Tahoe', adoptPoolPrefix: 'tuist-pool-' },
  });
  const named = cluster === undefined ? {} : { labels: { [labels.clusterName]: cluster } };
  return { ...made, metadata: { ...live, name: 'm', namespace: 'macs', uid: 'uid-m', ...named, ...metadata } };
};
const clusterWith = (
  name: string,
  { isPaused, kind = kindNames.cluster.kind }: { isPaused?: boolean; kind?: string } = {},
): Live<CoreCluster> => ({
  metadata: { ...live, name, namespace: 'macs' },
  spec: { ...(isPaused !== undefined && { paused: isPaused }), infrastructureRef: { kind } },
});

const byCluster = 'Cluster spec.paused is set to true';
const byMachine = `${kindNames.machine.kind} has the ${annotations.paused} annotation`;
const byHost = `MacHost has the ${annotations.paused} annotation`;
const maybe = (name: string): string => `Cluster macs/${name} is paused, and the Mac may belong to it`;

describe('why an object is paused', () => {
  const table: [title: string, object: KubeObject, cluster: CoreCluster | undefined, reasons: string[]][] = [
    ['it is not', machineOf('c'), clusterWith('c'), []],
    ['its Cluster is not', machineOf('c'), clusterWith('c', { isPaused: false }), []],
    ['its Cluster', machineOf('c'), clusterWith('c', { isPaused: true }), [byCluster]],
    ['its annotation, whatever the value', machineOf('c', paused), undefined, [byMachine]],
    ['both', machineOf('c', paused), clusterWith('c', { isPaused: true }), [byCluster, byMachine]],
    ['another annotation', machineOf('c', { annotations: { a: 'b' } }), undefined, []],
    ['a Cluster without a spec', machineOf('c'), {}, []],
    ['an object without metadata', {}, undefined, []],
    [
      'an object without a kind',
      { metadata: paused },
      undefined,
      [`the object has the ${annotations.paused} annotation`],
    ],
  ];
  for (const [title, object, cluster, reasons] of table)
    it(title, () => assert.deepEqual(pauseReasonsOf(object, cluster), reasons));
});

describe('the Cluster of a machine', () => {
  it('is named by its label, in its namespace', () => {
    assert.deepEqual(clusterNameOf(machineOf('c')), { namespace: 'macs', name: 'c' });
    assert.equal(clusterNameOf(machineOf(undefined)), undefined);
    assert.equal(clusterNameOf(machineOf('')), undefined);
    const { namespace: _namespace, ...metadata } = machineOf('c').metadata;
    assert.deepEqual(clusterNameOf({ ...machineOf('c'), metadata }), { namespace: '', name: 'c' });
  });

  it('pauses the machine, from the cache', () => {
    const clusters = { get: (key: string) => (key === 'macs/c' ? clusterWith('c', { isPaused: true }) : undefined) };
    assert.deepEqual(cachedPauseReasons(machineOf('c', paused), clusters), [byCluster, byMachine]);
    assert.deepEqual(cachedPauseReasons(machineOf('other'), clusters), []);
    assert.deepEqual(cachedPauseReasons(machineOf(undefined, paused), clusters), [byMachine]);
  });
});

it('an object blocks `clusterctl move` by an annotation', () =>
  assert.deepEqual(moveBlockingPatch, { metadata: { annotations: { [annotations.blockMove]: '' } } }));

/** What there is. Every read is recorded; what is not there is not found. */
interface World {
  readonly machine?: Machine;
  readonly clusters?: readonly Live<CoreCluster>[];
  /** Cluster API is not installed. */
  readonly noClusterKind?: boolean;
}
const call = { signal: new AbortController().signal };
const notFound = () => new KubeError('notFound', 'not found', { code: 404 });
const readerOf = ({ machine, clusters = [], noClusterKind = false }: World) => {
  const reads: string[] = [];
  const client = {
    get: async ({ kind }: { kind: string }, name: ObjectName, options: unknown) => {
      assert.equal(options, call);
      reads.push(`${kind} ${keyOf(name)}`);
      const found = (kind === 'Cluster' ? clusters : [machine]).find(
        (each) => each !== undefined && keyOf(each.metadata) === keyOf(name),
      );
      if (found === undefined) throw notFound();
      return found;
    },
    list: async ({ kind }: { kind: string }, options: unknown) => {
      assert.equal(options, call);
      reads.push(`list ${kind}`);
      if (noClusterKind) throw notFound();
      return { items: clusters };
    },
  } as unknown as Pick<Client, 'get' | 'list'>;
  return { reads, reader: { client, coreClusters: coreClusters('v1beta2') } };
};

const free = (metadata: object = {}): Live<MacHost> => hostWith('h', { metadata });
const held = heldBy('m', 'uid-m');
const holding = (consumerRef: NonNullable<MacHostSpec['consumerRef']> = held, metadata: object = {}): Live<MacHost> =>
  hostWith('h', { spec: { consumerRef }, metadata });
const stranded = (spec: Partial<MacHostSpec> = {}): Live<MacHost> =>
  hostWith('h', { spec, status: { state: 'stranded' } });
const by = { namespace: 'macs', name: 'm', uid: 'uid-m' };
const released = (machine?: NonNullable<MacHostSpec['release']>['machine'], more: object = {}): Live<MacHost> =>
  hostWith('h', {
    spec: {
      release: {
        poolPrefix: 'tuist-pool-',
        reason: 'MachineDeleted',
        requestedAt: '2026-01-01T00:00:00Z',
        ...(machine && { machine }),
      },
    },
    ...more,
  });
const pausedC: World = { machine: machineOf('c'), clusters: [clusterWith('c', { isPaused: true })] };
const runningC: World = { machine: machineOf('c'), clusters: [clusterWith('c')] };
const pausedMachine: World = { machine: machineOf('c', paused), clusters: [clusterWith('c')] };
const machineRead = `${kindNames.machine.kind} macs/m`;

const table: [title: string, host: Live<MacHost>, world: World, reasons: string[], reads: string[]][] = [
  ['it is free', free(), pausedC, [], []],
  ['it is free, with the annotation', free(paused), pausedC, [byHost], []],
  ['its machine runs', holding(), runningC, [], [machineRead, 'Cluster macs/c']],
  ['its machine is paused', holding(), pausedMachine, [byMachine], [machineRead, 'Cluster macs/c']],
  ['the Cluster of its machine is', holding(), pausedC, [byCluster], [machineRead, 'Cluster macs/c']],
  [
    'it, its machine and the Cluster are',
    holding(held, paused),
    { machine: machineOf('c', paused), clusters: [clusterWith('c', { isPaused: true })] },
    [byHost, byCluster, byMachine],
    [machineRead, 'Cluster macs/c'],
  ],
  ['its machine has no Cluster', holding(), { machine: machineOf(undefined, paused) }, [byMachine], [machineRead]],
  ['the Cluster of its machine is gone', holding(), { machine: machineOf('c') }, [], [machineRead, 'Cluster macs/c']],
  ['its machine is gone', holding(), { clusters: [clusterWith('c', { isPaused: true })] }, [], [machineRead]],
  [
    'a new machine has the name of its machine',
    holding(heldBy('m', 'older')),
    { machine: machineOf('c', paused), clusters: [clusterWith('c', { isPaused: true })] },
    [],
    [machineRead, 'Cluster macs/c'],
  ],
  ['another kind holds it', holding({ ...held, kind: 'Other' }), { ...pausedC, ...pausedMachine }, [], []],
  ['a kind of another group holds it', holding({ ...held, apiVersion: 'other/v1' }), pausedC, [], []],
  [
    'a machine of another version holds it',
    holding({ ...held, apiVersion: `${kindNames.machine.group}/v9` }),
    pausedC,
    [byCluster],
    [machineRead, 'Cluster macs/c'],
  ],
  ['a machine that is there released it', released(by), pausedMachine, [byMachine], [machineRead, 'Cluster macs/c']],
  [
    'the Cluster of the machine that released it is, and the machine is gone',
    released({ ...by, cluster: 'c' }),
    { clusters: [clusterWith('c', { isPaused: true })] },
    [byCluster],
    [machineRead, 'Cluster macs/c'],
  ],
  [
    'the Cluster that the release names counts, not that of the machine now',
    released({ ...by, cluster: 'c' }),
    { machine: machineOf('d'), clusters: [clusterWith('c'), clusterWith('d', { isPaused: true })] },
    [],
    [machineRead, 'Cluster macs/c'],
  ],
  [
    'a machine of no Cluster released it, and is gone',
    released(by),
    { clusters: [clusterWith('c', { isPaused: true })] },
    [],
    [machineRead],
  ],
  [
    'nobody knows who released it: any Cluster of Macs',
    released(),
    {
      clusters: [
        clusterWith('a', { isPaused: true }),
        clusterWith('b'),
        clusterWith('c', { isPaused: true, kind: 'OtherCluster' }),
        { metadata: { ...live, name: 'd', namespace: 'macs' } },
        { metadata: { ...live, name: 'e', namespace: 'macs' }, spec: { paused: true } },
        clusterWith('f', { isPaused: true }),
      ],
    },
    [maybe('a'), maybe('f')],
    ['list Cluster'],
  ],
  [
    'nobody knows who released it, and it has the annotation',
    released(undefined, { metadata: paused }),
    { clusters: [clusterWith('a', { isPaused: true })] },
    [byHost, maybe('a')],
    ['list Cluster'],
  ],
  ['nobody knows who released it, and no Cluster is', released(), runningC, [], ['list Cluster']],
  [
    'nobody knows who released it, and there is no Cluster API',
    released(),
    { noClusterKind: true },
    [],
    ['list Cluster'],
  ],
  ['it is stranded', stranded(), pausedC, [maybe('c')], ['list Cluster']],
  [
    'it is stranded, and its machine is gone',
    stranded({ consumerRef: held }),
    { clusters: [clusterWith('c', { isPaused: true })] },
    [maybe('c')],
    [machineRead, 'list Cluster'],
  ],
  [
    'it is stranded, and its machine is there, with another Mac',
    stranded({ consumerRef: held }),
    { ...runningC, clusters: [clusterWith('c'), clusterWith('d', { isPaused: true })] },
    [],
    [machineRead, 'Cluster macs/c', 'list Cluster'],
  ],
  ['it was never seen', { ...free(), status: {} }, pausedC, [], []],
];

describe('why a Mac is paused', () => {
  for (const [title, host, world, reasons, expectedReads] of table)
    it(title, async () => {
      const { machine, clusters = [] } = world;
      const cached = hostPauseReasons(host, {
        machine: (name) => (machine && keyOf(name) === keyOf(machine.metadata) ? machine : undefined),
        cluster: (name) => clusters.find(({ metadata }) => keyOf(metadata) === keyOf(name)),
        clusters: () => clusters,
      });
      assert.deepEqual(cached, reasons, 'from the cache');
      const { reader, reads } = readerOf(world);
      assert.deepEqual(await readHostPauseReasons(reader, host, call), reasons, 'read live');
      assert.deepEqual(reads, expectedReads);
    });

  it('is not known when a read fails', async () => {
    const { reader } = readerOf(pausedC);
    const failing = { ...reader, client: { ...reader.client, get: () => Promise.reject(new Error('no answer')) } };
    await assert.rejects(readHostPauseReasons(failing, holding(), call), /no answer/);
    await assert.rejects(readMachinePauseReasons(failing, by, call), /no answer/);
  });

  it('a Mac without a status is not stranded', () => {
    const { status: _status, ...host } = free();
    const clusters = () => [clusterWith('c', { isPaused: true })];
    assert.deepEqual(hostPauseReasons(host, { machine: () => undefined, cluster: () => undefined, clusters }), []);
  });
});

describe('live reads of a machine', () => {
  const rows: [title: string, world: World, reasons: string[], reads: string[]][] = [
    ['that is gone', {}, [], [machineRead]],
    ['that runs', runningC, [], [machineRead, 'Cluster macs/c']],
    ['that is paused', pausedMachine, [byMachine], [machineRead, 'Cluster macs/c']],
    ['whose Cluster is paused', pausedC, [byCluster], [machineRead, 'Cluster macs/c']],
    ['that has no Cluster', { machine: machineOf(undefined) }, [], [machineRead]],
  ];
  for (const [title, world, reasons, expectedReads] of rows)
    it(title, async () => {
      const { reader, reads } = readerOf(world);
      assert.deepEqual(await readMachinePauseReasons(reader, by, call), reasons);
      assert.deepEqual(reads, expectedReads);
    });

  it('a Cluster that is gone is undefined', async () => {
    const name = { namespace: 'macs', name: 'c' };
    assert.equal(await readCluster(readerOf({}).reader, name, call), undefined);
    assert.deepEqual(await readCluster(readerOf(runningC).reader, name, call), clusterWith('c'));
  });
});
