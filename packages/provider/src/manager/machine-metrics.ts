import { metricNames, type ScalewayAppleSiliconMachine } from '@tartan/api';
import { getCondition, type Live, type StateGauge } from '@tartan/kube';

type Machine = Live<ScalewayAppleSiliconMachine>;

interface Machines {
  readonly machines: readonly Machine[];
  readonly now: number;
}

export const measureMachines = (gauge: StateGauge<Machines>): void => {
  gauge(
    metricNames.machinePhase,
    'Always 1: the phase of each machine, and why it is not Ready or has refused a roll: the reason of the condition that says the most.',
    ['namespace', 'machine', 'fleet', 'phase', 'failure_reason'],
    (phases) =>
      ({ machines }) => {
        for (const machine of machines)
          phases.set(
            { ...labelsOf(machine), phase: machine.status?.phase ?? '', failure_reason: failureReason(machine) },
            1,
          );
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
};

const labelsOf = ({ metadata, spec }: Machine) => ({
  namespace: metadata.namespace ?? '',
  machine: metadata.name,
  fleet: spec.fleetName ?? '',
});

/** Reasons of Ready that only say which other condition has the reason. An alert wants to know that no Mac was free (E9). */
const pointsTo: Readonly<Record<string, string>> = { NotProvisioned: 'Provisioned', NotBootstrapped: 'Bootstrapped' };

const failureReason = ({ status }: Machine): string => {
  const reasonOf = (type: string): string | undefined => {
    const condition = getCondition(status?.conditions, type);
    return condition === undefined || condition.status === 'True' ? undefined : condition.reason;
  };
  const ready = reasonOf('Ready');
  // It runs on with what it had, so it may well be Ready.
  if (ready === undefined) return status?.phase === 'Failed' ? (reasonOf('HostUpToDate') ?? '') : '';
  const deeper = pointsTo[ready];
  return (deeper === undefined ? undefined : reasonOf(deeper)) ?? ready;
};

const driftSeconds = ({ status }: Machine, now: number): number => {
  const upToDate = getCondition(status?.conditions, 'HostUpToDate');
  if (upToDate?.status !== 'False') return 0;
  return Math.max(0, now - Date.parse(upToDate.lastTransitionTime)) / 1000;
};
