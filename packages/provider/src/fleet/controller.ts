import { annotations, labels, type MacFleet } from '@tartan/api';
import {
  annotationsChanged,
  anyOf,
  type Controller,
  createController,
  done,
  fieldsChanged,
  fromInformer,
  generationChanged,
  getCondition,
  ignoreNotFound,
  keyOf,
  labelsChanged,
  nameOf,
  type Predicate,
  type Reconciler,
  requestForObject,
  requeueOnConflict,
  type Source,
} from '@tartan/kube';
import type { ControllerDeps, Informers, Node } from '../controller-deps.ts';
import type { CoreMachineDeployment } from '../core/kinds.ts';
import { type ActDeps, applyRoll, createFleet, deleteFleet } from './act.ts';
import { decide } from './decide.ts';
import { observe, type ObserveDeps } from './observe.ts';
import { defaultLimits } from './judge-turn.ts';
import { fleetNameOf } from './turns.ts';

interface FleetControllerOptions
  extends ControllerDeps,
    Pick<Informers, 'macFleets' | 'machines' | 'nodes'>,
    Partial<Pick<Informers, 'machineDeployments'>>,
    Omit<ActDeps, keyof ControllerDeps>,
    Pick<ObserveDeps, 'clusters' | 'revisionOf' | 'releaseID'> {
  /** After how long a stop is lifted and a machine that refused is retried: `update.retryAfterMs`. Undefined: never. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Decides which machines may be rolled, for a whole fleet in one place (INC-12). Keys are `namespace/fleet`.
 * Needs: get, list, watch, create, delete of macfleets and patch of macfleets/status; list, watch of scalewayapplesiliconmachines, nodes
 * and machinedeployments; patch of machinedeployments; create, patch of events.
 */
export const createFleetController = (options: FleetControllerOptions): Controller => {
  const { log, retryAfterMs } = options;
  const observer: ObserveDeps = { ...options, limits: { ...defaultLimits, retryAfterMs } };

  const reconcile: Reconciler = async (key, signal) => {
    const name = nameOf(key);
    const { fleet, deployment, snapshot } = await observe(observer, name, signal);
    const decision = decide(snapshot);
    log.debug('Looked at a fleet', { key, decision });
    switch (decision.kind) {
      case 'skip':
        return done;
      case 'create':
        return createFleet(options, name, signal);
      case 'delete':
        return fleet ? deleteFleet(options, fleet, signal) : done;
      case 'roll':
        return fleet ? applyRoll(options, { fleet, deployment, snapshot }, decision, signal) : done;
    }
  };

  return createController({
    ...options,
    name: 'fleet',
    // Not found: the fleet or its MachineDeployment was deleted meanwhile, which triggers again.
    reconcile: requeueOnConflict(async (key, signal) => (await ignoreNotFound(reconcile(key, signal))) ?? done),
    sources: fleetSources(options),
  });
};

/** Ignores heartbeats. */
const nodeChanged = fieldsChanged<Node>(({ metadata, status }) => [
  metadata.annotations?.[annotations.hostConfigHash],
  status?.conditions?.find(({ type }) => type === 'Ready')?.status,
]);

/** A manager of another release, an old one that is terminating, wrote after us. If the fleet names us, our status has to be the last. */
const becameWaiting: Predicate<MacFleet> = (change) =>
  change.type === 'changed' && isWaiting(change.object) && !isWaiting(change.previous);
const isWaiting = ({ status }: MacFleet): boolean =>
  getCondition(status?.conditions, 'Ready')?.reason === 'WaitingForManager';

/** All that may change who gets a turn. These only trigger; decisions use live reads. */
const fleetSources = ({ macFleets, machines, nodes, machineDeployments }: FleetControllerOptions): Source[] => [
  fromInformer(
    macFleets,
    requestForObject,
    anyOf<MacFleet>(generationChanged, labelsChanged, annotationsChanged, becameWaiting),
  ),
  fromInformer(machines, (machine) => [keyOf({ ...inNamespace(machine), name: fleetNameOf(machine) })]),
  fromInformer(
    nodes,
    ({ metadata }) =>
      machines
        .list()
        .filter((machine) => machine.metadata.name === metadata.name)
        .map((machine) => keyOf({ ...inNamespace(machine), name: fleetNameOf(machine) })),
    nodeChanged,
  ),
  ...(machineDeployments
    ? [
        fromInformer(
          machineDeployments,
          (deployment) => {
            const fleet = deployment.metadata.labels?.[labels.fleet];
            return fleet ? [keyOf({ ...inNamespace(deployment), name: fleet })] : [];
          },
          anyOf<CoreMachineDeployment>(generationChanged, labelsChanged, annotationsChanged),
        ),
      ]
    : []),
];

const inNamespace = ({ metadata: { namespace } }: { metadata: { namespace?: string } }) =>
  namespace === undefined ? {} : { namespace };
