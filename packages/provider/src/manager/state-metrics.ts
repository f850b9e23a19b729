import { type MacFleet, type MacHost, metricNames, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { getCondition, isTrue, type Live } from '@tartan/kube';
import { Gauge, type Registry } from 'prom-client';

/** What is there, as the caches of this process have it. */
export interface FleetState {
  readonly machines: readonly Live<ScalewayAppleSiliconMachine>[];
  readonly hosts: readonly Live<MacHost>[];
  readonly fleets: readonly Live<MacFleet>[];
  readonly now: number;
}

/**
 * Figures about objects are read off the objects at every scrape instead of being counted along the way: a series cannot outlive its
 * machine, and a new process has them all at once. Told by the leader alone, or sums over replicas would count every Mac twice.
 */
export interface StateMetrics {
  /** `state` answers undefined while this process does not lead: then there is no series. */
  show(state: () => FleetState | undefined): void;
}

type Show = (state: FleetState) => void;

export const createStateMetrics = (registry: Registry): StateMetrics => {
  let source: () => FleetState | undefined = () => undefined;
  const gauge = <Label extends string>(
    name: string,
    help: string,
    labelNames: readonly Label[],
    fill: (gauge: Gauge<Label>) => Show,
  ): void => {
    registry.registerMetric(
      new Gauge({
        name,
        help,
        labelNames: [...labelNames],
        registers: [],
        collect() {
          this.reset();
          const state = source();
          if (state !== undefined) fill(this)(state);
        },
      }),
    );
  };

  gauge(
    metricNames.machinePhase,
    'Always 1: the phase of each machine, and the reason of its condition Ready while that is not True.',
    ['namespace', 'machine', 'fleet', 'phase', 'failure_reason'],
    (phases) =>
      ({ machines }) => {
        for (const machine of machines) {
          const ready = getCondition(machine.status?.conditions, 'Ready');
          const failure_reason = ready === undefined || ready.status === 'True' ? '' : ready.reason;
          phases.set({ ...labelsOf(machine), phase: machine.status?.phase ?? '', failure_reason }, 1);
        }
      },
  );
  gauge(
    metricNames.machineFailedAttempts,
    'How often work on the Mac of a machine has failed in a row: task is bootstrap or update.',
    ['namespace', 'machine', 'fleet', 'task'],
    (attempts) =>
      ({ machines }) => {
        for (const machine of machines) {
          const { bootstrapAttempts = 0, tartKubeletUpdateAttempts = 0 } = machine.status ?? {};
          attempts.set({ ...labelsOf(machine), task: 'bootstrap' }, bootstrapAttempts);
          attempts.set({ ...labelsOf(machine), task: 'update' }, tartKubeletUpdateAttempts);
        }
      },
  );
  gauge(
    metricNames.machineDriftSeconds,
    'For how long a Mac has not had what it shall have. Zero while it has.',
    ['namespace', 'machine', 'fleet'],
    (drift) =>
      ({ machines, now }) => {
        for (const machine of machines) drift.set(labelsOf(machine), driftSeconds(machine, now));
      },
  );
  gauge(
    metricNames.fleetMachines,
    'Machines of a fleet: count is desired, existing, ready or updated.',
    ['namespace', 'fleet', 'count'],
    (counts) =>
      ({ fleets }) => {
        for (const { metadata, status } of fleets)
          for (const count of ['desired', 'existing', 'ready', 'updated'] as const)
            counts.set({ ...placeOf(metadata), count }, status?.[count] ?? 0);
      },
  );
  gauge(
    metricNames.fleetTurns,
    'Macs of a fleet that may be rolled now.',
    ['namespace', 'fleet'],
    (turns) =>
      ({ fleets }) => {
        for (const { metadata, status } of fleets) turns.set(placeOf(metadata), status?.turns?.length ?? 0);
      },
  );
  gauge(
    metricNames.fleetStalled,
    '1 while the roll of a fleet has stopped because of a failure.',
    ['namespace', 'fleet'],
    (stalled) =>
      ({ fleets }) => {
        for (const { metadata, status } of fleets)
          stalled.set(placeOf(metadata), isTrue(status?.conditions, 'Stalled') ? 1 : 0);
      },
  );
  gauge(
    metricNames.macHosts,
    'Macs at Scaleway by zone, type and state: pool, held, releasing, quarantined or stranded.',
    ['zone', 'type', 'state'],
    (macs) =>
      ({ hosts }) => {
        for (const { spec, status } of hosts)
          macs.inc({ zone: spec.zone, type: status?.type ?? '', state: status?.state ?? '' });
      },
  );

  return {
    show: (state) => {
      source = state;
    },
  };
};

const labelsOf = ({ metadata, spec }: Live<ScalewayAppleSiliconMachine>) => ({
  namespace: metadata.namespace ?? '',
  machine: metadata.name,
  fleet: spec.fleetName ?? '',
});

const placeOf = ({ namespace = '', name }: Live<MacFleet>['metadata']) => ({ namespace, fleet: name });

const driftSeconds = ({ status }: Live<ScalewayAppleSiliconMachine>, now: number): number => {
  const upToDate = getCondition(status?.conditions, 'HostUpToDate');
  if (upToDate?.status !== 'False') return 0;
  return Math.max(0, now - Date.parse(upToDate.lastTransitionTime)) / 1000;
};
