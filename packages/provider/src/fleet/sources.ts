import { annotations, labels, type MacFleet, type ScalewayAppleSiliconMachine } from '@tartan/api';
import {
  annotationsChanged,
  anyOf,
  fromCache,
  getCondition,
  itsOwnKey,
  keyOf,
  labelsChanged,
  type Matters,
  type Source,
  specChanged,
  type WatchCache,
} from '@tartan/kube';
import type { CoreMachineDeployment } from '../core/machine-deployment.ts';
import { fleetNameOf } from './fleet-name.ts';
import type { Node } from './observe.ts';

export interface FleetCaches {
  macFleets: Pick<WatchCache<MacFleet>, 'subscribe'>;
  machines: Pick<WatchCache<ScalewayAppleSiliconMachine>, 'subscribe' | 'list'>;
  nodes: Pick<WatchCache<Node>, 'subscribe'>;
  machineDeployments?: Pick<WatchCache<CoreMachineDeployment>, 'subscribe'> | undefined;
}

/** Nodes say much, and often. Whether one is Ready is heard from its machine. */
const hashChanged: Matters<Node> = (change) =>
  change.type !== 'changed' ||
  change.object.metadata.annotations?.[annotations.hostConfigHash] !==
    change.previous.metadata.annotations?.[annotations.hostConfigHash];

/** The manager of another release spoke after us: an old one on its way out. Ours is the last word, if we are the one that is named. */
const leftWaiting: Matters<MacFleet> = (change) =>
  change.type === 'changed' && isWaiting(change.object) && !isWaiting(change.previous);
const isWaiting = ({ status }: MacFleet): boolean =>
  getCondition(status?.conditions, 'Ready')?.reason === 'WaitingForManager';

/** Whatever may change who gets a turn. What is decided is read from the server: these only wake the controller up. */
export const fleetSources = ({ macFleets, machines, nodes, machineDeployments }: FleetCaches): Source[] => [
  fromCache(macFleets, itsOwnKey, anyOf<MacFleet>(specChanged, labelsChanged, annotationsChanged, leftWaiting)),
  fromCache(machines, (machine) => [keyOf({ ...inNamespace(machine), name: fleetNameOf(machine) })]),
  fromCache(
    nodes,
    ({ metadata }) =>
      machines
        .list()
        .filter((machine) => machine.metadata.name === metadata.name)
        .map((machine) => keyOf({ ...inNamespace(machine), name: fleetNameOf(machine) })),
    hashChanged,
  ),
  ...(machineDeployments
    ? [
        fromCache(
          machineDeployments,
          (deployment) => {
            const fleet = deployment.metadata.labels?.[labels.fleet];
            return fleet ? [keyOf({ ...inNamespace(deployment), name: fleet })] : [];
          },
          anyOf<CoreMachineDeployment>(specChanged, labelsChanged, annotationsChanged),
        ),
      ]
    : []),
];

const inNamespace = ({ metadata: { namespace } }: { metadata: { namespace?: string } }) =>
  namespace === undefined ? {} : { namespace };
