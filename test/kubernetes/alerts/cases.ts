import { leaderElectionID } from '@tartan/api';
import { type Case, type Fault, forMinutes, noFault, notScraped, once, setState } from './fault.ts';
import type { Harness } from './harness.ts';
import { condition, controlPlaneWith, fleetWith, hostIn, machineWith, podOn } from './objects.ts';
import { runnerCases } from './runner-cases.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

const inFleet = { namespace: 'tartan', fleet: 'runners' };
const ofMachine = { ...inFleet, machine: 'mac-1' };
const ofControlPlane = { namespace: 'tartan', control_plane: 'tartan-capi' };
const ofLease = { namespace: 'tartan', name: leaderElectionID };
const onManager = { job: 'tartan', namespace: 'tartan', pod: 'manager-0', instance: '192.0.2.0:8080' };
const ofManagerProcess = { namespace: onManager.namespace, instance: onManager.instance };
const onMac = { job: 'macs', instance: 'mac-1:10250' };

const notReady = (why: string) => condition('Ready', 'False', why);
const machinesWith = (status: Parameters<typeof machineWith>[1]): Fault =>
  setState(({ state }) => ({ machines: [machineWith('mac-1', status), ...state.machines.slice(1)] }));
const drifting = (sinceMs: number): Fault =>
  machinesWith({
    phase: 'Ready',
    conditions: [condition('Ready', 'True', 'Ready'), condition('HostUpToDate', 'False', 'WaitingForIdle', sinceMs)],
  });
const noMac: Fault = machinesWith({
  phase: 'Pending',
  conditions: [notReady('NotProvisioned'), condition('Provisioned', 'False', 'NoAvailableHost')],
});
const bootstrapping = (count: number): Fault =>
  machinesWith({
    phase: 'Bootstrapping',
    lastAttempt: { task: 'Bootstrap', outcome: 'Rejected', message: '', at: '2026-01-01T00:00:00Z', count },
    conditions: [notReady('NotBootstrapped'), condition('Bootstrapped', 'False', 'BootstrapFailed')],
  });

const defect = { result: 'error', seconds: 1, terminal: false, defect: true, timedOut: false } as const;
const handOver = (harness: Harness, transitions: number): void =>
  harness.leader.metrics.setLeader(leaderElectionID, true, transitions);
const certificateFor = (left: number): Fault =>
  once(({ agents: [agent], clock }) => {
    const notAfter = clock.now() + left;
    agent.certificates = { ...agent.certificates, serving: { notBefore: notAfter - 7 * day, notAfter } };
  });
/** So many of 10 workers have an object from the first minute on, and another object waits. */
const allWorkersBusy = (busy: number): Fault =>
  once(({ leader: { metrics } }) => {
    const controller = metrics.controller('machine');
    const queue = metrics.queue('machine');
    for (let worker = 0; worker < busy; worker += 1) {
      queue.added(`${worker}`);
      queue.taken(`${worker}`);
      controller.began();
    }
    queue.added('waits');
  });
/** Each of ten requests a minute. */
const requestsWait =
  (seconds: number): Fault =>
  ({ leader }) => {
    for (let request = 0; request < 10; request += 1)
      leader.metrics.requestWaited({ verb: 'GET', host: 'api', seconds });
  };
/** Once in so many minutes. */
const throttled =
  (minutes: number): Fault =>
  ({ leader }, since) => {
    if (since % minutes === 0) leader.metrics.countRequest({ code: 429, method: 'GET', host: 'api' });
  };
/** By the name of the alert. */
export const cases: Readonly<Record<string, Case>> = {
  TartanMacsStranded: {
    fault: once(({ leader }) => leader.metrics.sweep.stranded(2)),
    after: 60,
    labels: {},
    value: 2,
    nearMiss: ({ leader }, since) => leader.metrics.sweep.stranded(since < 59 ? 2 : 0),
  },
  TartanMacsInQuarantine: {
    fault: setState({ hosts: [hostIn('1', 'quarantined')] }),
    after: 120,
    labels: { zone: 'fr-par-1', type: 'M2-L' },
    value: 1,
    nearMiss: setState({ hosts: [hostIn('1', 'releasing')] }),
  },
  TartanNoMacAvailable: {
    fault: noMac,
    after: 30,
    labels: inFleet,
    value: 1,
    nearMiss: machinesWith({
      phase: 'Pending',
      conditions: [notReady('NotProvisioned'), condition('Provisioned', 'False', 'Adopting')],
    }),
  },
  TartanMachineNotReady: {
    fault: machinesWith({ phase: 'NotReady', conditions: [notReady('NodeNotReady')] }),
    after: 30,
    labels: ofMachine,
    nearMiss: machinesWith({ phase: 'Updating', conditions: [notReady('NodeNotReady')] }),
  },
  TartanMachineStuck: {
    fault: bootstrapping(0),
    after: 120,
    labels: ofMachine,
    // That has its own alert.
    nearMiss: noMac,
  },
  TartanBootstrapFailing: {
    fault: bootstrapping(3),
    after: 10,
    labels: ofMachine,
    value: 3,
    nearMiss: bootstrapping(2),
  },
  TartanMacOutdated: {
    fault: drifting(-day),
    after: 15,
    labels: ofMachine,
    nearMiss: drifting(-day + 2 * hour),
  },
  TartanRollStopped: {
    fault: setState({ fleets: [fleetWith({ conditions: [condition('Stalled', 'True', 'PushRejected')] })] }),
    after: 5,
    labels: inFleet,
    nearMiss: setState({ fleets: [fleetWith({ updated: 0, conditions: [condition('Ready', 'False', 'Rolling')] })] }),
  },
  TartanFleetBelowDesired: {
    fault: setState({ fleets: [fleetWith({ ready: 1 })] }),
    after: 60,
    labels: inFleet,
    value: 1,
    nearMiss: setState({ fleets: [fleetWith({ existing: 3 })] }),
  },
  TartanFleetDown: {
    fault: setState({ fleets: [fleetWith({ ready: 0 })] }),
    after: 30,
    labels: inFleet,
    nearMiss: setState({ fleets: [fleetWith({ desired: 0, existing: 0, ready: 0 })] }),
  },
  TartanMachinesMissing: {
    fault: setState({ fleets: [fleetWith({ desired: 3 })] }),
    after: 30,
    labels: inFleet,
    value: 2,
    nearMiss: setState({ fleets: [fleetWith({ ready: 0 })] }),
  },
  TartanPodsStuckTerminating: {
    fault: setState(({ clock }) => ({ pods: [podOn('mac-1', clock.now())] })),
    // More than fifteen minutes late, for five.
    after: 21,
    labels: { node: 'mac-1', fleet: 'runners' },
    nearMiss: forMinutes(
      15,
      setState(({ clock }) => ({ pods: [podOn('mac-1', clock.now())] })),
    ),
  },
  TartanPodNotStarted: {
    fault: once(({ agents: [agent], clock }) => {
      agent.waitingSince = clock.now();
    }),
    after: 36,
    labels: onMac,
    nearMiss: ({ agents: [agent], clock }, since) => {
      if (since % 30 === 0) agent.waitingSince = clock.now();
    },
  },
  TartanMacStartsNoVMs: {
    fault: once(({ agents: [agent] }) => agent.metrics.setObserved({ vmStart: { kind: 'refused', message: 'no' } })),
    after: 10,
    labels: { ...onMac, reason: 'starts_refused' },
    nearMiss: ({ agents: [agent] }, since) =>
      agent.metrics.setObserved({
        vmStart: since < 9 ? { kind: 'slots leaked', running: 0, total: 2 } : { kind: 'works' },
      }),
  },
  TartanPodsLost: {
    fault: once(({ leader }) => leader.metrics.podReleased('nodeGone')),
    after: 0,
    labels: { cause: 'node_gone' },
    nearMiss: noFault,
  },
  TartanGuestDiskFull: {
    fault: once(({ agents: [agent] }) => agent.metrics.setObserved({ guestDisks: [{ vm: 'job', usedPercent: 91 }] })),
    after: 15,
    labels: { ...onMac, vm: 'job' },
    value: 91,
    nearMiss: once(({ agents: [agent] }) =>
      agent.metrics.setObserved({ guestDisks: [{ vm: 'job', usedPercent: 90 }] }),
    ),
  },
  TartanNobodyLeads: {
    fault: once(({ leader }) => leader.metrics.setLeader(leaderElectionID, false)),
    after: 5,
    labels: ofLease,
    value: 0,
    nearMiss: ({ leader }, since) => leader.metrics.setLeader(leaderElectionID, since >= 5, since >= 5 ? 4 : undefined),
  },
  TartanLeaderFlapping: {
    fault: (harness, since) => handOver(harness, 3 + Math.min(5, since)),
    after: 4,
    labels: ofLease,
    nearMiss: (harness, since) => handOver(harness, 3 + Math.floor(since / 30)),
  },
  TartanReconcilePanics: {
    fault: once(({ leader }) => leader.metrics.controller('machine').ended(defect)),
    after: 0,
    labels: { ...onManager, controller: 'machine' },
    nearMiss: once(({ leader }) => leader.metrics.controller('machine').ended({ ...defect, defect: false })),
  },
  TartanWorkerStuck: {
    fault: once(({ agents: [agent] }) => {
      const queue = agent.metrics.queue('pods');
      queue.added('a');
      queue.taken('a');
    }),
    after: 66,
    labels: { ...onMac, name: 'pods', controller: 'pods' },
    // It waits, but no worker has taken it.
    nearMiss: once(({ agents: [agent] }) => agent.metrics.queue('pods').added('a')),
  },
  TartanReconcilesWait: {
    fault: allWorkersBusy(10),
    // With the minute of the fault, nine of the ten minutes of the window after eight; then 15 more.
    after: 23,
    labels: { ...onManager, name: 'machine', controller: 'machine' },
    // Two workers are free: the object that waits is one that a worker has.
    nearMiss: allWorkersBusy(8),
  },
  TartanRequestsWait: {
    fault: requestsWait(1.5),
    after: 15,
    labels: ofManagerProcess,
    nearMiss: requestsWait(0.9),
  },
  TartanAPIServerThrottles: {
    fault: throttled(1),
    // Nine of them in ten minutes, extrapolated to ten, after eight minutes; then ten more.
    after: 18,
    labels: ofManagerProcess,
    nearMiss: throttled(2),
  },
  TartanCertificateNearExpiry: {
    fault: certificateFor(1.3 * day),
    after: 60,
    labels: { ...onMac, certificate: 'serving' },
    nearMiss: certificateFor(1.6 * day),
  },
  TartanKubeconfigNotRenewed: {
    fault: setState({ controlPlanes: [controlPlaneWith({ fresh: false, expires: day })] }),
    after: 30,
    labels: ofControlPlane,
    nearMiss: setState({ controlPlanes: [controlPlaneWith({ available: false, expires: day })] }),
  },
  TartanKubeconfigNearExpiry: {
    fault: setState(({ clock }) => ({ controlPlanes: [controlPlaneWith({ expires: clock.now() + 30 * minute })] })),
    after: 16,
    labels: ofControlPlane,
    nearMiss: setState({ controlPlanes: [controlPlaneWith()] }),
  },
  TartanCoreCannotConnect: {
    fault: setState({ controlPlanes: [controlPlaneWith({ available: false })] }),
    after: 10,
    labels: ofControlPlane,
    nearMiss: setState({ controlPlanes: [controlPlaneWith({ fresh: false })] }),
  },
  TartanScalewayDenies: {
    fault: once(({ leader }) =>
      leader.metrics.scalewayCall({ operation: 'reinstall', outcome: 'denied', milliseconds: 9 }),
    ),
    after: 0,
    labels: { operation: 'reinstall', outcome: 'denied' },
    nearMiss: ({ leader }) =>
      leader.metrics.scalewayCall({ operation: 'reinstall', outcome: 'unavailable', milliseconds: 9 }),
  },
  TartanScalewayNotListed: {
    fault: ({ leader }) => leader.metrics.zoneListFailed('fr-par-1'),
    // The first one initialises the counter. Six more, plus Prometheus' extrapolation for a window that is not full.
    after: 10,
    labels: { zone: 'fr-par-1' },
    nearMiss: ({ leader }, since) => {
      if (since % 4 === 0) leader.metrics.zoneListFailed('fr-par-1');
    },
  },
  TartanManagerNotScraped: {
    fault: notScraped(({ leader, standby }) => [leader, standby]),
    after: 10,
    labels: {},
    nearMiss: notScraped(({ leader }) => [leader]),
  },
  TartanStrandedMacsUnknown: {
    fault: once(({ leader }) => leader.metrics.sweep.stranded(undefined)),
    after: 30,
    labels: {},
    // That has its own alert.
    nearMiss: notScraped(({ leader, standby }) => [leader, standby]),
  },
  TartanAgentsNotScraped: {
    fault: notScraped(({ agents }) => [...agents]),
    after: 30,
    labels: {},
    value: 2,
    // There is one Mac less, and one agent less to scrape.
    nearMiss: (harness, since) => {
      notScraped(({ agents: [, second] }) => [second])(harness, since);
      setState({ fleets: [fleetWith({ desired: 1, existing: 1, ready: 1 })] })(harness, since);
    },
  },
  ...runnerCases,
};
