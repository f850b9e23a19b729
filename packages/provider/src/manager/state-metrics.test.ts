import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  type ExternalControlPlane,
  externalControlPlane,
  finalizers,
  labels,
  type MacFleet,
  macFleet,
  type MacHost,
  macHost,
  machine,
  type MachineStatus,
  type ScalewayAppleSiliconMachine,
} from '@tartan/api';
import type { Live } from '@tartan/kube';
import { manualClock } from '@tartan/kube/clock';
import { createProviderMetrics } from './provider-metrics.ts';
import type { Node, Pod } from '../controller-deps.ts';
import type { FleetState } from './state-metrics.ts';

const now = Date.parse('2026-01-01T01:00:00Z');
const metadata = (name: string) => ({
  name,
  namespace: 'tartan',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: '2026-01-01T00:00:00Z',
});
const condition = (type: string, status: 'True' | 'False', reason: string) => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: '2026-01-01T00:50:00Z',
});

const machineWith = (name: string, status: MachineStatus): Live<ScalewayAppleSiliconMachine> => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'ScalewayAppleSiliconMachine',
  metadata: metadata(name),
  spec: machine.spec.parse({ fleetName: 'runners' }),
  status,
});
const hostIn = (name: string, state: 'pool' | 'held', type: string): Live<MacHost> => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'MacHost',
  metadata: metadata(name),
  spec: macHost.spec.parse({ zone: 'fr-par-1' }),
  status: { state, type },
});
const fleetWith = (status: Partial<NonNullable<MacFleet['status']>>): Live<MacFleet> => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'MacFleet',
  metadata: metadata('runners'),
  spec: macFleet.spec.parse({}),
  status: { observedGeneration: 1, ...status },
});
const podOn = (name: string, nodeName: string | undefined, deletionTimestamp?: string, held = true): Live<Pod> => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...metadata(name),
    ...(deletionTimestamp !== undefined && { deletionTimestamp }),
    finalizers: held ? [finalizers.vmCleanup] : [],
  },
  spec: { containers: [], ...(nodeName !== undefined && { nodeName }) },
});
const mac = (name: string): Live<Node> => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { ...metadata(name), labels: { [labels.fleet]: 'runners' } },
});
const controlPlaneWith = (status: ExternalControlPlane['status']): Live<ExternalControlPlane> => ({
  apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
  kind: 'ExternalControlPlane',
  metadata: metadata('capi'),
  spec: externalControlPlane.spec.parse({}),
  ...(status && { status }),
});

const nothing: FleetState = { machines: [], hosts: [], fleets: [], controlPlanes: [], pods: [], nodes: [], now };

const seriesOf = async (state: FleetState | undefined): Promise<string[]> => {
  const metrics = createProviderMetrics({ clock: manualClock() });
  metrics.state.setSource(() => state);
  const { body } = await metrics.text();
  return body
    .split('\n')
    .filter(
      (line) =>
        /^(capt_(scaleway_applesilicon_(machine|fleet)|external)|scaleway_mac_hosts|tart_pods_(term|old))/.test(line) &&
        !line.includes('bootstrap_seconds'),
    );
};

describe('metrics read from objects', () => {
  test('of a machine: phase and reason, failures, duration of drift', async () => {
    const status: MachineStatus = {
      phase: 'NotReady',
      lastAttempt: { task: 'Bootstrap', outcome: 'Rejected', message: '', at: '2026-01-01T00:00:00Z', count: 2 },
      conditions: [condition('Ready', 'False', 'NodeNotReady'), condition('HostUpToDate', 'False', 'WaitingForTurn')],
    };
    const labels = 'namespace="tartan",machine="mac-1",fleet="runners"';
    assert.deepEqual(await seriesOf({ ...nothing, machines: [machineWith('mac-1', status)] }), [
      `capt_scaleway_applesilicon_machine_phase{${labels},phase="NotReady",failure_reason="NodeNotReady"} 1`,
      `capt_scaleway_applesilicon_machine_failed_attempts{${labels},task="bootstrap"} 2`,
      `capt_scaleway_applesilicon_machine_failed_attempts{${labels},task="update"} 0`,
      `capt_scaleway_applesilicon_machine_drift_seconds{${labels}} 600`,
    ]);
  });

  test('of a healthy machine: no reason, no drift', async () => {
    const status: MachineStatus = {
      phase: 'Ready',
      conditions: [condition('Ready', 'True', 'Ready'), condition('HostUpToDate', 'True', 'UpToDate')],
    };
    const lines = await seriesOf({ ...nothing, machines: [machineWith('mac-1', status)] });
    assert.ok(lines.some((line) => line.endsWith('phase="Ready",failure_reason=""} 1')));
    assert.ok(lines.some((line) => line.startsWith('capt_scaleway_applesilicon_machine_drift') && line.endsWith(' 0')));
  });

  const notReady = (reason: string) => condition('Ready', 'False', reason);
  const reasons: [string, MachineStatus, string][] = [
    [
      'that finds no Mac, the reason of that',
      {
        phase: 'Pending',
        conditions: [notReady('NotProvisioned'), condition('Provisioned', 'False', 'NoAvailableHost')],
      },
      'NoAvailableHost',
    ],
    [
      'that is not bootstrapped: the reason',
      {
        phase: 'Bootstrapping',
        conditions: [
          notReady('NotBootstrapped'),
          condition('Provisioned', 'True', 'HostClaimed'),
          condition('Bootstrapped', 'False', 'HostUnreachable'),
        ],
      },
      'HostUnreachable',
    ],
    [
      'whose other conditions say nothing, that of Ready',
      { phase: 'Pending', conditions: [notReady('NotProvisioned'), condition('Provisioned', 'True', 'HostClaimed')] },
      'NotProvisioned',
    ],
    [
      'that has refused a roll and is Ready, that of the roll',
      {
        phase: 'Failed',
        conditions: [condition('Ready', 'True', 'Ready'), condition('HostUpToDate', 'False', 'RollRejected')],
      },
      'RollRejected',
    ],
    ['of which nothing is known, none', {}, ''],
  ];
  for (const [name, status, reason] of reasons)
    test(`of a machine ${name}`, async () => {
      const [line] = await seriesOf({ ...nothing, machines: [machineWith('mac-1', status)] });
      assert.ok(line?.endsWith(`,failure_reason="${reason}"} 1`), String(line));
    });

  test('of stuck Pods: count per Node, and age of the oldest', async () => {
    const pods = [
      podOn('a', 'mac-1', '2026-01-01T00:50:00Z'),
      podOn('b', 'mac-1', '2026-01-01T00:59:00Z'),
      podOn('c', undefined, '2026-01-01T00:59:30Z'),
      podOn('has some of its grace left', 'mac-1', '2026-01-01T01:00:01Z'),
      podOn('was not deleted', 'mac-2'),
      podOn('is no virtual machine', 'linux-1', '2026-01-01T00:00:00Z', false),
    ];
    assert.deepEqual(await seriesOf({ ...nothing, pods, nodes: [mac('mac-1')] }), [
      'tart_pods_terminating{node="mac-1",fleet="runners"} 2',
      'tart_pods_terminating{node="",fleet=""} 1',
      'tart_pods_oldest_terminating_seconds{node="mac-1",fleet="runners"} 600',
      'tart_pods_oldest_terminating_seconds{node="",fleet=""} 30',
    ]);
  });

  test('of a control plane: whether Cluster API can connect, and for how long', async () => {
    const conditions = [
      condition('Available', 'True', 'Available'),
      condition('KubeconfigReady', 'False', 'MintFailed'),
    ];
    const kubeconfigExpires = '1970-01-02T00:00:00Z';
    const place = 'namespace="tartan",control_plane="capi"';
    const expected = (available: number) => [
      `capt_external_control_plane_condition{${place},condition="Available"} ${available}`,
      `capt_external_control_plane_condition{${place},condition="KubeconfigReady"} 0`,
    ];
    assert.deepEqual(
      await seriesOf({ ...nothing, controlPlanes: [controlPlaneWith({ conditions, kubeconfigExpires })] }),
      [...expected(1), `capt_external_control_plane_kubeconfig_expiry_timestamp_seconds{${place}} 86400`],
    );
    assert.deepEqual(await seriesOf({ ...nothing, controlPlanes: [controlPlaneWith(undefined)] }), expected(0));
  });

  test('of the pool: Macs by zone, type and state', async () => {
    const hosts = [hostIn('1', 'pool', 'M2-L'), hostIn('2', 'pool', 'M2-L'), hostIn('3', 'held', 'M4-S')];
    assert.deepEqual(await seriesOf({ ...nothing, hosts }), [
      'scaleway_mac_hosts{zone="fr-par-1",type="M2-L",state="pool"} 2',
      'scaleway_mac_hosts{zone="fr-par-1",type="M4-S",state="held"} 1',
    ]);
  });

  test('of a fleet: progress of its roll, and whether it has stopped', async () => {
    const turn = { machine: 'a', uid: 'u', hash: 'h', canary: true, grantedAt: '2026-01-01T00:00:00Z' };
    const conditions = [condition('Stalled', 'True', 'PushRejected')];
    const fleets = [fleetWith({ desired: 4, existing: 3, ready: 2, updated: 1, turns: [turn], conditions })];
    const labels = 'namespace="tartan",fleet="runners"';
    assert.deepEqual(await seriesOf({ ...nothing, fleets }), [
      `capt_scaleway_applesilicon_fleet_machines{${labels},count="desired"} 4`,
      `capt_scaleway_applesilicon_fleet_machines{${labels},count="existing"} 3`,
      `capt_scaleway_applesilicon_fleet_machines{${labels},count="ready"} 2`,
      `capt_scaleway_applesilicon_fleet_machines{${labels},count="updated"} 1`,
      `capt_scaleway_applesilicon_fleet_turns{${labels}} 1`,
      `capt_scaleway_applesilicon_fleet_stalled{${labels}} 1`,
    ]);
  });

  test('are absent while not leading and for deleted objects', async () => {
    assert.deepEqual(await seriesOf(undefined), []);
    const metrics = createProviderMetrics({ clock: manualClock() });
    let machines = [machineWith('mac-1', { phase: 'Ready' })];
    metrics.state.setSource(() => ({ ...nothing, machines }));
    assert.match((await metrics.text()).body, /mac-1/);
    machines = [];
    assert.doesNotMatch((await metrics.text()).body, /mac-1/);
  });
});
