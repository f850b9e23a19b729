import { isDeepStrictEqual } from 'node:util';
import {
  annotations,
  type MacFleet,
  machine as machineKind,
  type MachineStatus,
  macHost,
  type ScalewayAppleSiliconMachine,
} from '@tartan/api';
import {
  annotationsChanged,
  anyOf,
  type Controller,
  createController,
  done,
  fieldsChanged,
  fromInformer,
  generationChanged,
  ignoreNotFound,
  type InformerEvent,
  keyOf,
  labelsChanged,
  nameOf,
  ownersChanged,
  type Reconciler,
  type ReconcileResult,
  requestForObject,
  requeueOnConflict,
  secrets,
  type Source,
} from '@tartan/kube';
import type { Machine, Node } from '../controller-deps.ts';
import type { PassResult } from '../claim/host-offers.ts';
import type { CoreCluster } from '../core/kinds.ts';
import { cachedPauseReasons, clusterNameOf, pauseReasonsOf, readCluster } from '../pause/pauses.ts';
import { workersBesideSlots } from '../slots.ts';
import { createCacheReader, NotCachedError } from '../cache-reader.ts';
import { carryOut, waitOf } from './act.ts';
import { awaitSlot } from './act/push.ts';
import type { ActContext, ActionOutput, MachineControllerOptions, MachineDeps } from './options.ts';
import { decide } from './decide.ts';
import { type ActionResult, type Decision, isPassive, needsSlot, succeeded, waitsForHost } from './decision.ts';
import { type AttemptResult, withAttempt, withoutRunning } from './last-attempt.ts';
import { createMachinePatcher } from './machine.ts';
import { createMachineMemory, type MachineMemory } from './memory.ts';
import { type Observation, observe, remember } from './observe.ts';
import { nodeAddresses } from './observe/node.ts';
import type { Snapshot } from './snapshot.ts';
import { statusOf } from './status.ts';
import { eventsOf } from './status/events.ts';

/**
 * The life of a machine: claims a Mac, provisions it, keeps its Node and its state as desired, releases it.
 * Needs: get, list, watch, patch of machines and patch of their status; get, list, watch, patch of machosts; get, list, watch of macfleets;
 * get, list, watch of clusters and list, watch of certificatesigningrequests; get, list, watch, patch, delete of nodes; list of pods; get
 * of leases in kube-node-lease; get, create, patch, delete of Secrets in its own namespace and create, delete of those in kube-system;
 * create, patch of events.
 */
export const createMachineController = (
  options: MachineControllerOptions,
  memory: MachineMemory = createMachineMemory(options),
): Controller => {
  const { options: settings } = options;
  const deps: MachineDeps = { ...options, ...memory };
  return createController({
    ...options,
    name: 'machine',
    reconcile: reconciler(deps),
    sources: sourcesOf(deps),
    workers: settings.machineWorkers + workersBesideSlots,
  });
};

/**
 * One pass: observe, decide, do one thing, report. A conflict is no failure: the next pass sees both writes. Any other failed write, above
 * all of the status, fails the pass: what was not recorded has not happened.
 */
const reconciler = (deps: MachineDeps): Reconciler =>
  requeueOnConflict(async (key, signal) => {
    let result = noPass;
    try {
      const pass = await reconcileKey(deps, key, signal);
      result = pass;
      return pass.next;
    } finally {
      deps.hostOffers.passEnded(key, result);
      deps.slots.passEnded(key);
      deps.gone.passEnded(key);
    }
  });

interface Pass extends PassResult {
  readonly next: ReconcileResult;
}

/** Also of a machine that is gone. */
const noPass: PassResult = { waits: false, serverID: undefined };

const passOf = ({ status }: Machine, decision: Decision, next: ReconcileResult): Pass => ({
  next,
  waits: waitsForHost(decision),
  serverID: status?.serverID,
});

const reconcileKey = async (deps: MachineDeps, key: string, signal: AbortSignal): Promise<Pass> => {
  const cached = deps.machines.get(key);
  const settled = cached && (await settledByCaches(deps, cached, signal));
  if (settled !== undefined) return settled;
  const machine = await readMachine(deps, key, signal);
  return machine === undefined ? { ...noPass, next: done } : reconcileMachine(deps, machine, signal);
};

/** A live read: with a stale machine a pass could claim twice, or push an outdated state. */
const readMachine = ({ client }: MachineDeps, key: string, signal: AbortSignal): Promise<Machine | undefined> =>
  ignoreNotFound(client.get(machineKind.resource, nameOf(key), { signal }));

/**
 * When to reconcile a machine again that, by the caches, can do nothing and needs no report: such a pass costs no request. Undefined: read it
 * live. Caches may be old, so they decide nothing else. All that they hold of a machine triggers when it changes, except the machine's own
 * status, which `versions` guards.
 */
const settledByCaches = async (deps: MachineDeps, machine: Machine, signal: AbortSignal): Promise<Pass | undefined> => {
  if (machine.metadata.deletionTimestamp !== undefined || deps.versions.isOutdated(machine)) return undefined;
  const { macHosts, machineSecrets, tailscaleSecrets } = deps;
  const client = createCacheReader({
    [macHost.resource.kind]: [macHosts],
    [secrets.kind]: [machineSecrets, ...(tailscaleSecrets ? [tailscaleSecrets] : [])],
  });
  try {
    const observation = await observe({ ...deps, client, redactor: { add: () => {} } }, machine, signal);
    const decision = decide(observation.snapshot);
    const idle = idleOf(deps, machine, decision);
    if (idle === undefined) return undefined;
    const { status = {} } = machine;
    const next = statusOf(withoutRunning(status), machine, outcomeOf(deps, observation, decision, idle.result));
    if (!isDeepStrictEqual(next, status)) return undefined;
    remember(deps, machine, observation.snapshot);
    return passOf(machine, decision, deps.requeueLimiter.limit(machine.metadata.uid, idle.next));
  } catch (error) {
    if (error instanceof NotCachedError) return undefined;
    throw error;
  }
};

/** The outcome of a decision that leads to no action: it only waits, or all slots are taken. Undefined: it leads to one. */
const idleOf = ({ slots }: MachineDeps, { metadata }: Machine, decision: Decision): ActionOutput | undefined => {
  if (isPassive(decision)) return { result: succeeded, next: waitOf(decision) };
  return needsSlot(decision) && slots.mustWait(keyOf(metadata)) ? awaitSlot : undefined;
};

/** What `statusOf` and `eventsOf` derive from. */
const outcomeOf = (
  deps: MachineDeps,
  { snapshot, host, node }: Observation,
  decision: Decision,
  result: ActionResult,
) => ({
  snapshot,
  decision,
  result,
  ip: host?.status?.ip,
  nodeAddresses: nodeAddresses(node, snapshot.node),
  releaseID: deps.options.releaseID,
});

/** The Cluster comes from a watch: before any action it is read from the server too. */
const decideUnlessPaused = async (
  deps: MachineDeps,
  machine: Machine,
  snapshot: Snapshot,
  signal: AbortSignal,
): Promise<Decision> => {
  const decision = decide(snapshot);
  const name = clusterNameOf(machine);
  if (isPassive(decision) || name === undefined) return decision;
  const pauseReasons = pauseReasonsOf(machine, await readCluster(deps, name, { signal }));
  return pauseReasons.length === 0 ? decision : decide({ ...snapshot, cluster: { ...snapshot.cluster, pauseReasons } });
};

const reconcileMachine = async (deps: MachineDeps, machine: Machine, signal: AbortSignal): Promise<Pass> => {
  const patcher = createMachinePatcher(deps.client, machine, signal);
  const observation = await observe(deps, machine, signal);
  const { snapshot } = observation;
  remember(deps, machine, snapshot);
  const decision = await decideUnlessPaused(deps, machine, snapshot, signal);
  const { name, namespace } = machine.metadata;
  deps.log.debug('Looked at a machine', { namespace, name, decision });

  const publish = async (result: ActionResult, attempt: AttemptResult | undefined, exists = true): Promise<void> => {
    const reconciled = outcomeOf(deps, observation, decision, result);
    const before = patcher.machine.status ?? {};
    const update = (status: MachineStatus): MachineStatus =>
      attempt === undefined ? withoutRunning(status) : withAttempt(status, attempt, deps.clock.now());
    if (exists && decision.kind !== 'ignore')
      await patcher.updateStatus((status, current) => statusOf(update(status), current, reconciled));
    for (const event of eventsOf(reconciled, before, patcher.machine.status ?? {}))
      deps.events.event(patcher.machine, event);
  };
  const context: ActContext = {
    deps,
    patcher,
    observation,
    signal,
    reportStarted: (attempt) => publish({ kind: 'started' }, attempt && { outcome: 'Running', ...attempt }),
  };
  const { result, next, attempt, finalizerRemoved } = await carryOut(context, decision);
  await publish(result, attempt, finalizerRemoved !== true);
  deps.versions.record(patcher.machine);
  return passOf(patcher.machine, decision, deps.requeueLimiter.limit(machine.metadata.uid, next));
};

/** What may change a decision. The machine's own status does not trigger: only this controller writes it. */
const sourcesOf = (deps: MachineDeps): readonly Source[] => {
  const { machines, macHosts, macFleets, machineSecrets, nodes, clusters, fleetKeys } = deps;
  const { missingNodes, hostOffers, pushes, slots, gone } = deps;
  const keysBy = (...[index, value]: Parameters<typeof machines.byIndex>): string[] =>
    machines.byIndex(index, value).map(({ metadata }) => keyOf(metadata));
  const applyPause = (machine: Machine): void =>
    pushes.setPaused(machine.metadata.uid, cachedPauseReasons(machine, clusters).length > 0);
  return [
    // Entries from an earlier run are not trusted: a Node may have existed meanwhile.
    () => {
      missingNodes.clear();
      return () => {};
    },
    (enqueue) => hostOffers.subscribe(enqueue),
    () =>
      machines.subscribe((change) => {
        for (const serverID of changedReservations(change)) hostOffers.hostChanged(serverID);
        if (change.type === 'removed') {
          const { metadata } = change.previous;
          missingNodes.forget(metadata.name);
          gone.add(change.previous);
          return void slots.forget(keyOf(metadata));
        }
        if (change.object.metadata.deletionTimestamp !== undefined) pushes.cancel(change.object.metadata.uid);
        applyPause(change.object);
      }),
    () =>
      clusters.subscribe((change) => {
        if (!clusterChanged(change)) return;
        const { metadata } = change.type === 'removed' ? change.previous : change.object;
        for (const machine of machines.byIndex('cluster', keyOf(metadata))) applyPause(machine);
      }),
    fromInformer(
      machines,
      requestForObject,
      anyOf(generationChanged, annotationsChanged, labelsChanged, ownersChanged),
    ),
    // Its holder, the machine that has reserved it, and one that waits for such a Mac.
    fromInformer(macHosts, ({ metadata, spec }) => [
      ...(spec.consumerRef ? keysBy('uid', spec.consumerRef.uid) : []),
      ...keysBy('serverID', metadata.name),
    ]),
    () =>
      macHosts.subscribe((change) => {
        const { metadata } = change.type === 'removed' ? change.previous : change.object;
        hostOffers.hostChanged(metadata.name);
      }),
    fromInformer(machineSecrets, ({ metadata }) => keysBy('uid', metadata.annotations?.[annotations.machineUID] ?? '')),
    fromInformer(nodes, ({ metadata }) => keysBy('name', metadata.name), nodeChanged),
    fromInformer(
      macFleets,
      ({ status }) => (status?.turns ?? []).flatMap(({ uid }) => keysBy('uid', uid)),
      turnsChanged,
    ),
    fromInformer(clusters, ({ metadata }) => keysBy('cluster', keyOf(metadata)), clusterChanged),
    (enqueue) => slots.subscribe(enqueue),
    (enqueue) =>
      fleetKeys.subscribe((fleet) => {
        for (const key of keysBy('sshKey', fleet)) enqueue(key);
      }),
  ];
};

/** The servers that the machine has reserved or given up with that change. */
const changedReservations = (change: InformerEvent<ScalewayAppleSiliconMachine>): readonly string[] => {
  const before = change.type === 'added' ? undefined : change.previous.status?.serverID;
  const after = change.type === 'removed' ? undefined : change.object.status?.serverID;
  return before === after ? [] : [before, after].filter((serverID) => serverID !== undefined);
};

/** The fields that `clusterFacts` reads. Core counts machines in the status, which changes with each of them. */
const clusterChanged = fieldsChanged<CoreCluster>(({ spec, status }) => [
  spec?.paused,
  status?.initialization?.infrastructureProvisioned,
  status?.infrastructureReady,
]);

const turnsChanged = fieldsChanged<MacFleet>(({ status }) => status?.turns);

/** Ignores heartbeats, which come every few seconds from every Mac. */
const nodeChanged = fieldsChanged<Node>(({ metadata, spec, status }) => ({
  annotations: metadata.annotations,
  providerID: spec?.providerID,
  unschedulable: spec?.unschedulable,
  addresses: status?.addresses,
  ready: status?.conditions?.find(({ type }) => type === 'Ready')?.status,
}));
