import { type ExternalControlPlane, labels, type MacFleet, metricNames } from '@tartan/api';
import { createScrapeGauges, getCondition, isConditionTrue, type Live, type ScrapeGauge } from '@tartan/kube';
import type { Registry } from 'prom-client';
import type { Host, Machine, Node, Pod } from '../controller-deps.ts';
import { failuresOf } from '../machine/last-attempt.ts';
import { podFacts } from '../pods/act.ts';

/** The objects in the caches of this process. */
export interface FleetState {
  readonly machines: readonly Machine[];
  readonly hosts: readonly Host[];
  readonly fleets: readonly Live<MacFleet>[];
  readonly controlPlanes: readonly Live<ExternalControlPlane>[];
  readonly pods: readonly Live<Pod>[];
  readonly nodes: readonly Live<Node>[];
  readonly now: number;
}

/**
 * Gauges are computed from the objects at every scrape, not counted along the way: a series cannot outlive its machine, and a new process
 * has them at once. Only the leader exports them, or sums over replicas would count every Mac twice.
 */
export const createStateMetrics = (registry: Registry) => {
  let source: () => FleetState | undefined = () => undefined;
  const gauge = createScrapeGauges(registry, () => source());
  for (const measure of [addMachineGauges, addFleetGauges, addPodGauges, addControlPlaneGauges]) measure(gauge);
  return {
    /** `state` returns undefined while this process does not lead: then there is no series. */
    setSource: (state: () => FleetState | undefined): void => {
      source = state;
    },
  };
};

const addMachineGauges = (gauge: ScrapeGauge<FleetState>): void => {
  gauge(
    metricNames.machinePhase,
    'Always 1: the phase of each machine, and why it is not Ready or has refused a roll: the reason of the condition that says the most.',
    ['namespace', 'machine', 'fleet', 'phase', 'failure_reason'],
    (phases, { machines }) => {
      for (const machine of machines)
        phases.set(
          { ...machineLabels(machine), phase: machine.status?.phase ?? '', failure_reason: failureReason(machine) },
          1,
        );
    },
  );
  gauge(
    metricNames.machineFailedAttempts,
    'How often work on the Mac of a machine has failed in a row: task is bootstrap or update.',
    ['namespace', 'machine', 'fleet', 'task'],
    (attempts, { machines }) => {
      for (const machine of machines) {
        const { status = {} } = machine;
        attempts.set({ ...machineLabels(machine), task: 'bootstrap' }, failuresOf(status, 'Bootstrap'));
        attempts.set({ ...machineLabels(machine), task: 'update' }, failuresOf(status, 'Update'));
      }
    },
  );
  gauge(
    metricNames.machineDriftSeconds,
    'For how long a Mac has not had what it shall have. Zero while it has.',
    ['namespace', 'machine', 'fleet'],
    (drift, { machines, now }) => {
      for (const machine of machines) drift.set(machineLabels(machine), driftSeconds(machine, now));
    },
  );
};

const machineLabels = ({ metadata, spec }: Machine) => ({
  namespace: metadata.namespace ?? '',
  machine: metadata.name,
  fleet: spec.fleetName ?? '',
});

/** Reasons of Ready that point to another condition. Alerts need the detailed reason, such as that no Mac was free (E9). */
const detailCondition: Readonly<Record<string, string>> = {
  NotProvisioned: 'Provisioned',
  NotBootstrapped: 'Bootstrapped',
};

const failureReason = ({ status }: Machine): string => {
  const reasonOf = (type: string): string | undefined => {
    const condition = getCondition(status?.conditions, type);
    return condition === undefined || condition.status === 'True' ? undefined : condition.reason;
  };
  const ready = reasonOf('Ready');
  // It runs on with its previous state, so it may be Ready.
  if (ready === undefined) return status?.phase === 'Failed' ? (reasonOf('HostUpToDate') ?? '') : '';
  const deeper = detailCondition[ready];
  return (deeper === undefined ? undefined : reasonOf(deeper)) ?? ready;
};

const driftSeconds = ({ status }: Machine, now: number): number => {
  const upToDate = getCondition(status?.conditions, 'HostUpToDate');
  if (upToDate?.status !== 'False') return 0;
  return Math.max(0, now - Date.parse(upToDate.lastTransitionTime)) / 1000;
};

const addFleetGauges = (gauge: ScrapeGauge<FleetState>): void => {
  gauge(
    metricNames.fleetMachines,
    'Machines of a fleet: count is desired, existing, ready or updated.',
    ['namespace', 'fleet', 'count'],
    (counts, { fleets }) => {
      for (const { metadata, status } of fleets)
        for (const count of ['desired', 'existing', 'ready', 'updated'] as const)
          counts.set({ ...fleetLabels(metadata), count }, status?.[count] ?? 0);
    },
  );
  gauge(
    metricNames.fleetTurns,
    'Macs of a fleet that may be rolled now.',
    ['namespace', 'fleet'],
    (turns, { fleets }) => {
      for (const { metadata, status } of fleets) turns.set(fleetLabels(metadata), status?.turns?.length ?? 0);
    },
  );
  gauge(
    metricNames.fleetStalled,
    '1 while the roll of a fleet has stopped because of a failure.',
    ['namespace', 'fleet'],
    (stalled, { fleets }) => {
      for (const { metadata, status } of fleets)
        stalled.set(fleetLabels(metadata), isConditionTrue(status?.conditions, 'Stalled') ? 1 : 0);
    },
  );
  gauge(
    metricNames.macHosts,
    'Macs at Scaleway by zone, type and state: pool, held, releasing, quarantined, stranded or abandoned.',
    ['zone', 'type', 'state'],
    (macs, { hosts }) => {
      for (const { spec, status } of hosts)
        macs.inc({ zone: spec.zone, type: status?.type ?? '', state: status?.state ?? '' });
    },
  );
};

const fleetLabels = ({ namespace = '', name }: Live<MacFleet>['metadata']) => ({ namespace, fleet: name });

/** For Pods that an agent holds. Their count alone cannot tell many that end from one that never does (INC-17). */
const addPodGauges = (gauge: ScrapeGauge<FleetState>): void => {
  gauge(
    metricNames.podsTerminating,
    'Pods whose virtual machine should be gone by now, and whose agent still holds them. No series where there is none.',
    ['node', 'fleet'],
    (count, state) => {
      for (const { place, overdue } of overdueByNode(state)) count.set(place, overdue.length);
    },
  );
  gauge(
    metricNames.podsTerminatingSeconds,
    'For how long the oldest of them should have been gone: counted from the end of its grace.',
    ['node', 'fleet'],
    (oldest, state) => {
      for (const { place, overdue } of overdueByNode(state)) oldest.set(place, Math.max(...overdue) / 1000);
    },
  );
};

const overdueByNode = ({ pods, nodes, now }: FleetState) => {
  const byNode = Map.groupBy(
    pods.flatMap((pod) => {
      const { held, deletedAt } = podFacts(pod);
      return held && deletedAt !== undefined && now >= deletedAt
        ? [{ node: pod.spec?.nodeName ?? '', forMs: now - deletedAt }]
        : [];
    }),
    ({ node }) => node,
  );
  const fleetOf = (name: string): string =>
    nodes.find(({ metadata }) => metadata.name === name)?.metadata.labels?.[labels.fleet] ?? '';
  return [...byNode].map(([node, found]) => ({
    place: { node, fleet: fleetOf(node) },
    overdue: found.map(({ forMs }) => forMs),
  }));
};

/** Whether Cluster API core can connect: without its kubeconfig no Machine is bound, drained or deleted (INC-307). */
const addControlPlaneGauges = (gauge: ScrapeGauge<FleetState>): void => {
  gauge(
    metricNames.controlPlaneCondition,
    '1 while the condition of the ExternalControlPlane is True, else 0: condition is Available or KubeconfigReady.',
    ['namespace', 'control_plane', 'condition'],
    (conditions, { controlPlanes }) => {
      for (const { metadata, status } of controlPlanes)
        for (const condition of ['Available', 'KubeconfigReady'] as const)
          conditions.set(
            { ...controlPlaneLabels(metadata), condition },
            isConditionTrue(status?.conditions, condition) ? 1 : 0,
          );
    },
  );
  gauge(
    metricNames.kubeconfigExpiry,
    'When the token in the kubeconfig of Cluster API core expires. No series for a kubeconfig that somebody else wrote.',
    ['namespace', 'control_plane'],
    (expiry, { controlPlanes }) => {
      for (const { metadata, status } of controlPlanes)
        if (status?.kubeconfigExpires !== undefined)
          expiry.set(controlPlaneLabels(metadata), Date.parse(status.kubeconfigExpires) / 1000);
    },
  );
};

const controlPlaneLabels = ({ namespace = '', name }: Live<ExternalControlPlane>['metadata']) => ({
  namespace,
  control_plane: name,
});
