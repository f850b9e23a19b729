import { isDeepStrictEqual } from 'node:util';
import { annotations, type MacHost, parseProviderID, type ScalewayAppleSiliconMachine } from '@tartan/api';
import {
  annotationsChanged,
  anyOf,
  fromCache,
  itsOwnKey,
  type KubeObject,
  type Live,
  type Matters,
  type nodes as nodesOfCluster,
  type Source,
  specChanged,
  type WatchCache,
} from '@tartan/kube';
import type { CoreCluster } from '../cluster/core-cluster.ts';
import type { Sightings } from '../inventory/sightings.ts';
import { waitingSince } from './os-demand.ts';

type Node = NonNullable<(typeof nodesOfCluster)['ofType']>;

interface World {
  readonly macHosts: WatchCache<MacHost>;
  readonly machines: WatchCache<ScalewayAppleSiliconMachine>;
  readonly nodes: WatchCache<Node>;
  readonly clusters: Pick<WatchCache<CoreCluster>, 'subscribe'>;
  readonly sightings: Sightings;
}

/** What is remembered, and so decided on. Not what is only said: two managers that disagree would answer each other for ever. */
const memoryChanged: Matters<MacHost> = (change) =>
  change.type !== 'changed' || !isDeepStrictEqual(memoryOf(change.object), memoryOf(change.previous));

const memoryOf = ({ status }: MacHost) =>
  status && [
    status.state,
    status.wipe,
    status.quarantine,
    status.installs,
    status.rebootIssuedAt,
    status.osRequested,
    status.claim,
  ];

const isPaused = ({ metadata }: KubeObject): boolean => annotations.paused in (metadata?.annotations ?? {});

const pauseChanged: Matters<KubeObject> = (change) =>
  change.type !== 'changed' || isPaused(change.object) !== isPaused(change.previous);

/** Its spec, whether it is abandoned or paused, and our own memory: the next step is taken when the last one has been seen. */
export const hostsThemselves = ({ macHosts }: World): Source =>
  fromCache(macHosts, itsOwnKey, anyOf<MacHost>(specChanged, annotationsChanged, memoryChanged));

export const hostsOfSightings =
  ({ sightings }: World): Source =>
  (enqueue) =>
    sightings.subscribe(enqueue);

type Machine = Live<ScalewayAppleSiliconMachine>;

const matters: Matters<ScalewayAppleSiliconMachine> = (change) =>
  change.type !== 'changed' ||
  pauseChanged(change) ||
  change.object.status?.serverID !== change.previous.status?.serverID ||
  waitingSince(change.object) !== waitingSince(change.previous) ||
  change.object.spec.type !== change.previous.spec.type;

/**
 * The Macs that a machine has to do with: holds, has reserved, or is called like; and while it finds none, those that are free, as one may
 * get another macOS for it.
 */
export const hostsOfMachines = ({ macHosts, machines }: World): Source =>
  fromCache(
    machines,
    (machine: Machine) => {
      const { metadata, status } = machine;
      const isWaiting = waitingSince(machine) !== undefined;
      return macHosts
        .list()
        .filter(
          ({ metadata: { name }, spec: { consumerRef }, status: known }) =>
            name === status?.serverID ||
            consumerRef?.uid === metadata.uid ||
            known?.name === metadata.name ||
            (known?.state === 'pool' && isWaiting),
        )
        .map((host) => host.metadata.name);
    },
    matters,
  );

/** The Mac that a Node says it is: one that is left without a machine may bring its Node back. */
export const hostsOfNodes = ({ nodes }: World): Source =>
  fromCache(
    nodes,
    ({ spec }: Live<Node>) => {
      const of = parseProviderID(spec?.providerID ?? '');
      return of ? [of.serverID] : [];
    },
    (change) =>
      change.type !== 'changed' ||
      change.object.spec?.providerID !== change.previous.spec?.providerID ||
      change.object.spec?.unschedulable !== change.previous.spec?.unschedulable,
  );

const clusterPauseChanged: Matters<CoreCluster> = (change) =>
  change.type !== 'changed' || change.object.spec?.paused !== change.previous.spec?.paused;

/** All of them: which Macs a Cluster can pause is for `pausesOfHost` to say, and people pause seldom. */
export const hostsOfClusters = ({ macHosts, clusters }: World): Source =>
  fromCache(clusters, () => macHosts.list().map(({ metadata }) => metadata.name), clusterPauseChanged);
