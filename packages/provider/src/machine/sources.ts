import { isDeepStrictEqual } from 'node:util';
import type { MacHost, ScalewayAppleSiliconMachine } from '@tartan/api';
import {
  annotationsChanged,
  anyOf,
  fromCache,
  itsOwnKey,
  keyOf,
  type KubeObject,
  labelsChanged,
  type Live,
  type Matters,
  type Source,
  specChanged,
} from '@tartan/kube';
import type { CoreCluster } from '../cluster/core-cluster.ts';
import type { Recollections } from './observe.ts';
import type { MachineControllerOptions, Node } from './options.ts';
import { keyNameOf } from './key-name.ts';
import { clusterNameOf, pausesInCache } from '../pause/pauses.ts';
import type { RunningPushes } from './running-pushes.ts';

type Watched = Pick<
  MachineControllerOptions,
  'machines' | 'macHosts' | 'macFleets' | 'nodes' | 'clusters' | 'fleetKeys'
>;

/** What may change what is decided about a machine. Its own status is no news: only this controller writes it. */
export const sourcesOf = (watched: Watched, pushes: RunningPushes, { absences }: Recollections): readonly Source[] => {
  const { machines, macHosts, macFleets, nodes, clusters, fleetKeys } = watched;
  const keysOf = (wanted: (machine: Live<ScalewayAppleSiliconMachine>) => boolean): string[] =>
    machines
      .list()
      .filter(wanted)
      .map(({ metadata }) => keyOf(metadata));
  const heedPause = (machine: Live<ScalewayAppleSiliconMachine>): void =>
    pushes.setPaused(machine.metadata.uid, pausesInCache(machine, clusters).length > 0);
  return [
    // What was seen before this run is not trusted: a Node may have been there meanwhile.
    () => {
      absences.forgetAll();
      return () => {};
    },
    () =>
      machines.subscribe((change) => {
        if (change.type === 'removed') return pushes.forget(change.previous.metadata.uid);
        if (change.object.metadata.deletionTimestamp !== undefined) pushes.end(change.object.metadata.uid);
        heedPause(change.object);
      }),
    () =>
      clusters.subscribe((change) => {
        const cluster = change.type === 'removed' ? change.previous : change.object;
        for (const machine of machines.list()) if (isOf(cluster, machine)) heedPause(machine);
      }),
    fromCache(machines, itsOwnKey, anyOf(specChanged, annotationsChanged, labelsChanged, ownersChanged)),
    fromCache(macHosts, (host) => keysOf(isConcerned(host))),
    fromCache(nodes, (node) => keysOf(({ metadata }) => metadata.name === node.metadata.name), nodeMatters),
    fromCache(macFleets, ({ metadata, status }) => {
      const uids = new Set(status?.turns?.map(({ uid }) => uid));
      return keysOf((machine) => machine.metadata.namespace === metadata.namespace && uids.has(machine.metadata.uid));
    }),
    fromCache(clusters, (cluster) => keysOf((machine) => isOf(cluster, machine))),
    (enqueue) =>
      fleetKeys.subscribe((fleet) => {
        for (const key of keysOf((machine) => keyNameOf(machine) === fleet)) enqueue(key);
      }),
  ];
};

const isOf = ({ metadata }: Live<CoreCluster>, machine: Live<ScalewayAppleSiliconMachine>): boolean => {
  const name = clusterNameOf(machine);
  return name?.name === metadata.name && name.namespace === metadata.namespace;
};

/** Core adds itself as the owner after the object was made, which moves no generation. */
const ownersChanged: Matters<KubeObject> = (change) =>
  change.type !== 'changed' ||
  !isDeepStrictEqual(change.object.metadata.ownerReferences, change.previous.metadata.ownerReferences);

/** Its holder, whoever has reserved it, and everybody who waits for a Mac. */
const isConcerned =
  ({ metadata, spec, status }: Live<MacHost>) =>
  (machine: Live<ScalewayAppleSiliconMachine>): boolean =>
    machine.metadata.uid === spec.consumerRef?.uid ||
    machine.status?.serverID === metadata.name ||
    (!machine.status?.serverID && status?.state === 'pool');

/** Heartbeats do not matter: they come every few seconds, from every Mac. */
const nodeMatters: Matters<Node> = (change) =>
  change.type !== 'changed' || !isDeepStrictEqual(gistOf(change.object), gistOf(change.previous));

const gistOf = ({ metadata, spec, status }: Live<Node>) => ({
  annotations: metadata.annotations,
  providerID: spec?.providerID,
  unschedulable: spec?.unschedulable,
  addresses: status?.addresses,
  ready: status?.conditions?.find(({ type }) => type === 'Ready')?.status,
});
