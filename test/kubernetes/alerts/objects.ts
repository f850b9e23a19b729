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
import { timestamp } from '@tartan/kube/clock';
import type { FleetState } from '../../../packages/provider/src/manager/state-metrics.ts';

/** Objects as in the caches of a manager. */

const metadata = (name: string) => ({
  name,
  namespace: 'tartan',
  uid: name,
  resourceVersion: '1',
  creationTimestamp: timestamp(0),
});

export const condition = (type: string, status: 'True' | 'False', reason: string, since = 0) => ({
  type,
  status,
  reason,
  message: '',
  lastTransitionTime: timestamp(since),
});

export const machineWith = (name: string, status: MachineStatus): Live<ScalewayAppleSiliconMachine> => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'ScalewayAppleSiliconMachine',
  metadata: metadata(name),
  spec: machine.spec.parse({ fleetName: 'runners' }),
  status,
});

export const readyMachine = (name: string): Live<ScalewayAppleSiliconMachine> =>
  machineWith(name, {
    phase: 'Ready',
    conditions: [condition('Ready', 'True', 'Ready'), condition('HostUpToDate', 'True', 'UpToDate')],
  });

export const hostIn = (name: string, state: NonNullable<NonNullable<MacHost['status']>['state']>): Live<MacHost> => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'MacHost',
  metadata: metadata(name),
  spec: macHost.spec.parse({ zone: 'fr-par-1' }),
  status: { state, type: 'M2-L' },
});

type FleetStatus = NonNullable<MacFleet['status']>;

export const fleetWith = (status: Partial<FleetStatus>): Live<MacFleet> => ({
  apiVersion: 'infrastructure.cluster.x-k8s.io/v1alpha1',
  kind: 'MacFleet',
  metadata: metadata('runners'),
  spec: macFleet.spec.parse({}),
  status: { observedGeneration: 1, desired: 2, existing: 2, ready: 2, updated: 2, ...status },
});

export const controlPlaneWith = (
  about: { readonly available?: boolean; readonly fresh?: boolean; readonly expires?: number } = {},
): Live<ExternalControlPlane> => {
  const { available = true, fresh = true, expires } = about;
  return {
    apiVersion: 'controlplane.cluster.x-k8s.io/v1alpha1',
    kind: 'ExternalControlPlane',
    metadata: metadata('tartan-capi'),
    spec: externalControlPlane.spec.parse({}),
    status: {
      conditions: [
        available ? condition('Available', 'True', 'Available') : condition('Available', 'False', 'KubeconfigMissing'),
        fresh ? condition('KubeconfigReady', 'True', 'Minted') : condition('KubeconfigReady', 'False', 'MintFailed'),
      ],
      ...(expires !== undefined && { kubeconfigExpires: timestamp(expires) }),
    },
  };
};

/** A Pod that its agent holds; `endsAt`: it was deleted, with a grace period until then. */
export const podOn = (nodeName: string, endsAt?: number): FleetState['pods'][number] => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    ...metadata('job'),
    finalizers: [finalizers.vmCleanup],
    ...(endsAt !== undefined && { deletionTimestamp: timestamp(endsAt) }),
  },
  spec: { containers: [], nodeName },
});

export const macNode = (name: string): FleetState['nodes'][number] => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: { ...metadata(name), labels: { [labels.fleet]: 'runners' } },
});
