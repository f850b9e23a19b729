import { isDeepStrictEqual } from 'node:util';
import { annotations, type MacHost, type ScalewayAppleSiliconMachine } from '@tartan/api';
import {
  anyOf,
  fromCache,
  itsOwnKey,
  type KubeObject,
  type Live,
  type Matters,
  type Source,
  specChanged,
  type WatchCache,
} from '@tartan/kube';
import type { CoreCluster } from '../cluster/core-cluster.ts';
import type { Sightings } from '../inventory/sightings.ts';

interface World {
  readonly macHosts: WatchCache<MacHost>;
  readonly machines: WatchCache<ScalewayAppleSiliconMachine>;
  readonly clusters: Pick<WatchCache<CoreCluster>, 'subscribe'>;
  readonly sightings: Sightings;
}

/** What is remembered, and so decided on. Not what is only said: two managers that disagree would answer each other for ever. */
const memoryChanged: Matters<MacHost> = (change) =>
  change.type !== 'changed' || !isDeepStrictEqual(memoryOf(change.object), memoryOf(change.previous));

const memoryOf = ({ status }: MacHost) =>
  status && [status.state, status.wipe, status.quarantine, status.installs, status.rebootIssuedAt];

const isPaused = ({ metadata }: KubeObject): boolean => annotations.paused in (metadata?.annotations ?? {});

const pauseChanged: Matters<KubeObject> = (change) =>
  change.type !== 'changed' || isPaused(change.object) !== isPaused(change.previous);

/** Its spec, and our own memory: the next step is taken when the last one has been seen. */
export const hostsThemselves = ({ macHosts }: World): Source =>
  fromCache(macHosts, itsOwnKey, anyOf<MacHost>(specChanged, memoryChanged, pauseChanged));

export const hostsOfSightings =
  ({ sightings }: World): Source =>
  (enqueue) =>
    sightings.subscribe(enqueue);

type Machine = Live<ScalewayAppleSiliconMachine>;

const matters: Matters<ScalewayAppleSiliconMachine> = (change) =>
  change.type !== 'changed' ||
  pauseChanged(change) ||
  change.object.status?.serverID !== change.previous.status?.serverID ||
  change.object.spec.adoptPoolPrefix !== change.previous.spec.adoptPoolPrefix ||
  change.object.spec.type !== change.previous.spec.type;

/**
 * The Macs that a machine has to do with: holds, has reserved, or is called like. Those that are nobody's as well, since a machine may
 * bring a pool prefix that makes one of them a pool's.
 */
export const hostsOfMachines = ({ macHosts, machines }: World): Source =>
  fromCache(
    machines,
    ({ metadata, status }: Machine) =>
      macHosts
        .list()
        .filter(
          ({ metadata: { name }, spec: { consumerRef }, status: known }) =>
            name === status?.serverID ||
            consumerRef?.uid === metadata.uid ||
            known?.name === metadata.name ||
            known?.state === 'stranded',
        )
        .map((host) => host.metadata.name),
    matters,
  );

const clusterPauseChanged: Matters<CoreCluster> = (change) =>
  change.type !== 'changed' || change.object.spec?.paused !== change.previous.spec?.paused;

/** All of them: which Macs a Cluster can pause is for `pausesOfHost` to say, and people pause seldom. */
export const hostsOfClusters = ({ macHosts, clusters }: World): Source =>
  fromCache(clusters, () => macHosts.list().map(({ metadata }) => metadata.name), clusterPauseChanged);
