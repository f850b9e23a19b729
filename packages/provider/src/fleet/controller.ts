import { annotations, labels, type MacFleet, type ScalewayAppleSiliconMachine } from '@tartan/api';
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
  isNewerResourceVersion,
  keyOf,
  labelsChanged,
  type Live,
  nameOf,
  type ObjectName,
  type Predicate,
  type Reconciler,
  requestForObject,
  requeueOnConflict,
  type Source,
} from '@tartan/kube';
import type { ControllerDeps, Informers, Node } from '../controller-deps.ts';
import type { CoreMachineDeployment } from '../core/kinds.ts';
import { type ActDeps, applyRoll, createFleet, deleteFleet } from './act.ts';
import { isChange, type Decision, decide, machinesWithTurn } from './decide.ts';
import { createObserve, machineFacts, type Observation, type ObserveDeps, readLive } from './observe.ts';
import { defaultLimits } from './judge-turn.ts';
import { createMemberFacts } from './member-facts.ts';
import { fleetNameOf } from './turns.ts';

interface FleetControllerOptions
  extends ControllerDeps,
    Pick<Informers, 'macFleets' | 'machines' | 'nodes'>,
    Partial<Pick<Informers, 'machineDeployments'>>,
    Omit<ActDeps, keyof ControllerDeps | 'fleetWritten'>,
    Pick<ObserveDeps, 'revisionOf' | 'releaseID'> {
  readonly clusters: Pick<Informers['clusters'], 'get' | 'subscribe'>;
  /** After how long a stop is lifted and a machine that refused is retried: `update.retryAfterMs`. Undefined: never. */
  readonly retryAfterMs: number | undefined;
}

/**
 * Decides which machines may be rolled, for a whole fleet in one place (INC-12). Keys are `namespace/fleet`.
 * Needs: get, list, watch, create, delete of macfleets and patch of macfleets/status; get, list, watch of scalewayapplesiliconmachines;
 * list, watch of nodes and machinedeployments; patch of machinedeployments; create, patch of events.
 */
export const createFleetController = (options: FleetControllerOptions): Controller => {
  const { client, log, retryAfterMs } = options;
  const fleets = createFleetReader(options.macFleets);
  const actor: ActDeps = { ...options, fleetWritten: fleets.written };
  const limits = { ...defaultLimits, retryAfterMs };
  const memberFacts = createMemberFacts({ ...options, limits });
  const observe = createObserve({ ...options, memberFacts, fleetOf: fleets.get, limits });

  /**
   * Decides by the caches. Before it changes more than what is reported, decides again by the live fleet and its live machines with a turn:
   * caches of different age would overspend the budget.
   */
  const decideFor = async (name: ObjectName, signal: AbortSignal): Promise<Observation & { decision: Decision }> => {
    const cached = await observe(name, signal);
    const decision = decide(cached.snapshot);
    return isChange(cached.snapshot, decision)
      ? decideLive(name, machinesWithTurn(cached.snapshot, decision), signal)
      : { ...cached, decision };
  };
  const decideLive = async (
    name: ObjectName,
    machineNames: readonly string[],
    signal: AbortSignal,
  ): Promise<Observation & { decision: Decision }> => {
    const live = await readLive(client, name, machineNames, signal);
    const observation = await observe(name, signal, live);
    const decision = decide(observation.snapshot);
    const unread = machinesWithTurn(observation.snapshot, decision).filter((each) => !live.machines.has(each));
    return unread.length === 0 ? { ...observation, decision } : decideLive(name, [...machineNames, ...unread], signal);
  };

  const reconcile: Reconciler = async (key, signal) => {
    const name = nameOf(key);
    const { fleet, deployment, snapshot, decision } = await decideFor(name, signal);
    log.debug('Looked at a fleet', { key, decision });
    switch (decision.kind) {
      case 'skip':
        return done;
      case 'create':
        return createFleet(options, name, signal);
      case 'delete':
        return fleet ? deleteFleet(options, fleet, signal) : done;
      case 'roll':
        return fleet ? applyRoll(actor, { fleet, deployment, snapshot }, decision, signal) : done;
    }
  };

  return createController({
    ...options,
    name: 'fleet',
    // Not found: the fleet or its MachineDeployment was deleted meanwhile, which triggers again.
    reconcile: requeueOnConflict(async (key, signal) => (await ignoreNotFound(reconcile(key, signal))) ?? done),
    sources: [
      // Of an earlier term, with fleets that are gone by now.
      () => {
        fleets.clear();
        return () => {};
      },
      memberFacts.follow,
      ...fleetSources(options),
    ],
  });
};

/** The fleets of the cache, or as this process has written them, until the cache has that. */
const createFleetReader = (macFleets: Pick<Informers['macFleets'], 'get'>) => {
  const written = new Map<string, Live<MacFleet>>();
  return {
    clear: (): void => written.clear(),
    written: (fleet: Live<MacFleet>): void => void written.set(keyOf(fleet.metadata), fleet),
    get: (key: string): Live<MacFleet> | undefined => {
      const cached = macFleets.get(key);
      const own = written.get(key);
      const isNewer =
        own?.metadata.uid === cached?.metadata.uid &&
        own !== undefined &&
        cached !== undefined &&
        isNewerResourceVersion(own.metadata.resourceVersion, cached.metadata.resourceVersion);
      if (isNewer) return own;
      written.delete(key);
      return cached;
    },
  };
};

/** Ignores heartbeats. */
const nodeChanged = fieldsChanged<Node>(({ metadata, status }) => [
  metadata.annotations?.[annotations.hostConfigHash],
  status?.conditions?.find(({ type }) => type === 'Ready')?.status,
]);

/**
 * A manager of another release, an old one that is terminating, wrote after us. The status of the manager that the fleet names has to be the
 * last. Others do not react, or two managers would overwrite each other without end.
 */
const becameWaiting =
  (releaseID: string | undefined): Predicate<MacFleet> =>
  (change) =>
    change.type === 'changed' &&
    isWaiting(change.object) &&
    !isWaiting(change.previous) &&
    change.object.spec.releaseID === releaseID;
const isWaiting = ({ status }: MacFleet): boolean =>
  getCondition(status?.conditions, 'Ready')?.reason === 'WaitingForManager';

/** What a fleet reads of its machines. Most status writes change nothing of it. */
const machineChanged = fieldsChanged<ScalewayAppleSiliconMachine>((each) => [
  machineFacts(each, undefined, { now: 0, retryAfterMs: undefined, clusters: { get: () => undefined } }),
  fleetNameOf(each),
  each.spec.providerID,
  each.status?.leftOut,
  each.metadata.labels,
  each.metadata.annotations,
]);

/** All that may change who gets a turn. */
const fleetSources = ({
  macFleets,
  machines,
  nodes,
  machineDeployments,
  releaseID,
}: FleetControllerOptions): Source[] => [
  fromInformer(
    macFleets,
    requestForObject,
    anyOf<MacFleet>(generationChanged, labelsChanged, annotationsChanged, becameWaiting(releaseID)),
  ),
  fromInformer(machines, (machine) => [keyOf({ ...inNamespace(machine), name: fleetNameOf(machine) })], machineChanged),
  fromInformer(
    nodes,
    ({ metadata }) =>
      machines
        .byIndex('name', metadata.name)
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
