import {
  cluster,
  externalControlPlane,
  labels,
  machine,
  type MachineSpec,
  machineTemplate,
  macHost,
  remoteServiceAccount,
} from '@tartan/api';
import {
  type Client,
  type Condition,
  defineResource,
  grantPolicyRules,
  type KubeObject,
  serviceAccounts,
} from '@tartan/kube';
import { remoteRights } from '@tartan/provider';
import { fleetNamespace as namespace } from './control-plane.ts';
import { appSecretName, organization } from './github.ts';
import type { Installer } from './installer.ts';
import { untilObjects } from './wait.ts';

/** Desired machines by fleet. Builders need a simulated GitHub. */
export interface FleetSizes {
  readonly macos: number;
  readonly runners: number;
  readonly builders?: number;
}

/** The fleets of every simulation: for Pods of users, and for GitHub runners. */
export const fleetNames = ['macos', 'runners'] as const;
const builders = 'builders';
export type FleetName = (typeof fleetNames)[number] | typeof builders;

/** Fleets without machines can be scaled up. */
export const fleetsOf = (sizes: FleetSizes): FleetName[] => [
  ...fleetNames,
  ...(sizes.builders ? ([builders] as const) : []),
];

/** Prefix of the names of claimed Macs. */
export const claimPrefix = 'tartan-';
export const clusterName = `${claimPrefix}capi`;
export const deploymentOf = (fleet: FleetName): string => `${claimPrefix}${fleet}`;

interface CoreObject extends KubeObject {
  spec?: Record<string, unknown>;
  status?: {
    replicas?: number;
    availableReplicas?: number;
    conditions?: Condition[];
    nodeRef?: { name: string };
    phase?: string;
  };
}

const coreKind = (kind: string, plural: string) =>
  defineResource<CoreObject>({ group: 'cluster.x-k8s.io', version: 'v1beta2', kind, plural, namespaced: true });

/** Kinds of Cluster API core. */
export const coreKinds = {
  clusters: coreKind('Cluster', 'clusters'),
  machineDeployments: coreKind('MachineDeployment', 'machinedeployments'),
  machineSets: coreKind('MachineSet', 'machinesets'),
  machines: coreKind('Machine', 'machines'),
  machineDrainRules: coreKind('MachineDrainRule', 'machinedrainrules'),
} as const;

const apiVersion = 'cluster.x-k8s.io/v1beta2';
const objectName = (name: string) => ({ namespace, name });
const infrastructureRef = (kind: string, name: string) => ({
  apiGroup: 'infrastructure.cluster.x-k8s.io',
  kind,
  name,
});

const ensureCluster = async ({ ensure }: Installer, server: string): Promise<void> => {
  await ensure(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: objectName(remoteServiceAccount),
  });
  const account = objectName(remoteServiceAccount);
  await grantPolicyRules(ensure, remoteServiceAccount, { account }, { clusterWide: remoteRights });
  await ensure(cluster.resource, cluster.make({ metadata: objectName(clusterName) }));
  await ensure(
    externalControlPlane.resource,
    externalControlPlane.make({
      metadata: objectName(clusterName),
      spec: { serviceAccountName: remoteServiceAccount, server },
    }),
  );
  await ensure(coreKinds.clusters, {
    apiVersion,
    kind: 'Cluster',
    metadata: objectName(clusterName),
    spec: {
      infrastructureRef: infrastructureRef('ScalewayAppleSiliconCluster', clusterName),
      controlPlaneRef: {
        apiGroup: 'controlplane.cluster.x-k8s.io',
        kind: 'ExternalControlPlane',
        name: clusterName,
      },
    },
  });
};

/** A builder has a GitHub runner on the Mac itself. */
const fleetExtras: Readonly<Partial<Record<FleetName, object>>> = {
  builders: {
    ghActionsRunner: {
      ghOrg: organization,
      ghAppSecretName: appSecretName,
      ghRunnerLabels: 'self-hosted,macos,vm-image-builder,simulation',
    },
  },
};

const ensureFleet = async ({ ensure }: Installer, fleet: FleetName, replicas: number): Promise<void> => {
  const name = deploymentOf(fleet);
  await ensure(
    machineTemplate.resource,
    machineTemplate.make({
      metadata: objectName(name),
      spec: { template: { spec: { fleetName: fleet, ...fleetExtras[fleet] } } },
    }),
  );
  await ensure(coreKinds.machineDeployments, {
    apiVersion,
    kind: 'MachineDeployment',
    metadata: { ...objectName(name), labels: { [labels.fleet]: fleet } },
    spec: {
      clusterName,
      replicas,
      template: {
        metadata: { labels: { [labels.fleet]: fleet } },
        spec: {
          // Required by the real core.
          clusterName,
          // Macs are prepared over SSH, without bootstrap data.
          bootstrap: { dataSecretName: 'none' },
          infrastructureRef: infrastructureRef('ScalewayAppleSiliconMachineTemplate', name),
        },
      },
    },
  });
};

/** A Machine outside of MachineDeployments. */
export const addMachine = async (client: Client, name: string, spec: Partial<MachineSpec>): Promise<void> => {
  const metadata = { ...objectName(name), labels: { [labels.clusterName]: clusterName } };
  await client.create(machine.resource, machine.make({ metadata, spec }));
  await client.create(coreKinds.machines, {
    apiVersion,
    kind: 'Machine',
    metadata: objectName(name),
    spec: {
      clusterName,
      bootstrap: { dataSecretName: 'none' },
      infrastructureRef: infrastructureRef('ScalewayAppleSiliconMachine', name),
    },
  });
};

/** As in the chart: core waits for jobs of runners before it deletes a machine. */
const ensureDrainRule = ({ ensure }: Installer): Promise<void> =>
  ensure(coreKinds.machineDrainRules, {
    apiVersion,
    kind: 'MachineDrainRule',
    metadata: objectName(`${claimPrefix}runners`),
    spec: {
      drain: { behavior: 'WaitCompleted' },
      machines: [{ selector: { matchLabels: { [labels.fleet]: 'runners' } } }],
      pods: [{ selector: { matchLabels: { [labels.runner]: 'true' } } }],
    },
  });

/** Installs each fleet as a MachineDeployment. An existing one keeps its size. */
export const ensureFleets = async (installer: Installer, server: string, sizes: FleetSizes): Promise<void> => {
  await ensureCluster(installer, server);
  await ensureDrainRule(installer);
  for (const fleet of fleetsOf(sizes)) await ensureFleet(installer, fleet, sizes[fleet] ?? 0);
};

/** Waits until the provider has observed so many Macs. False: the signal fired before. */
export const untilHostsFound = (client: Client, count: number, signal: AbortSignal): Promise<boolean> =>
  untilObjects(
    client,
    macHost.resource,
    (hosts) => hosts.filter(({ status }) => status?.state !== undefined).length >= count,
    signal,
  );

/** Waits until so many machines are Ready. False: the signal fired before. */
export const untilMachinesReady = (client: Client, count: number, signal: AbortSignal): Promise<boolean> =>
  untilObjects(
    client,
    machine.resource,
    (machines) => machines.filter(({ status }) => status?.ready === true).length >= count,
    signal,
  );
