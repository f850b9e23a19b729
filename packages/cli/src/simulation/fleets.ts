import {
  cluster,
  externalControlPlane,
  labels,
  machine,
  type MachineSpec,
  machineTemplate,
  remoteServiceAccount,
} from '@tartan/api';
import {
  type Client,
  type Condition,
  defineResource,
  grantRights,
  type KubeObject,
  serviceAccounts,
} from '@tartan/kube';
import { remoteRights } from '@tartan/provider';
import { fleetNamespace as namespace } from './control-plane.ts';
import type { FleetSizes } from './fleet-sizes.ts';
import type { Furniture } from './furniture.ts';
import { appSecretName, organization } from './github.ts';

/** The fleets of every simulation: Macs for whoever asks, and Macs for jobs of continuous integration. */
export const fleetNames = ['macos', 'runners'] as const;
/** And, where somebody asks for it, one that bakes images. */
const builders = 'builders';
export type FleetName = (typeof fleetNames)[number] | typeof builders;

/** Those that there are. One without Macs may be scaled up. */
export const fleetsOf = (sizes: FleetSizes): FleetName[] => [
  ...fleetNames,
  ...(sizes.builders ? ([builders] as const) : []),
];

/** Everything that is claimed bears a name that begins so. */
export const claimPrefix = 'tartan-';
export const clusterName = `${claimPrefix}capi`;
export const deploymentOf = (fleet: FleetName): string => `${claimPrefix}${fleet}`;

interface Core extends KubeObject {
  spec?: Record<string, unknown>;
  status?: {
    replicas?: number;
    availableReplicas?: number;
    conditions?: Condition[];
    nodeRef?: { name: string };
    phase?: string;
  };
}

const core = (kind: string, plural: string) =>
  defineResource<Core>({ group: 'cluster.x-k8s.io', version: 'v1beta2', kind, plural, namespaced: true });

/** What of Cluster API core a fleet is made of. */
export const coreKinds = {
  clusters: core('Cluster', 'clusters'),
  machineDeployments: core('MachineDeployment', 'machinedeployments'),
  machineSets: core('MachineSet', 'machinesets'),
  machines: core('Machine', 'machines'),
  machineDrainRules: core('MachineDrainRule', 'machinedrainrules'),
} as const;

const apiVersion = 'cluster.x-k8s.io/v1beta2';
const here = (name: string) => ({ namespace, name });
const infrastructure = (kind: string, name: string) => ({
  apiGroup: 'infrastructure.cluster.x-k8s.io',
  kind,
  name,
});

/** The cluster that Machines belong to, which is the one that they join. */
const ensureCluster = async ({ ensure }: Furniture, server: string): Promise<void> => {
  await ensure(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: here(remoteServiceAccount),
  });
  const account = here(remoteServiceAccount);
  await grantRights(ensure, remoteServiceAccount, { account }, { clusterWide: remoteRights });
  await ensure(cluster.resource, cluster.make({ metadata: here(clusterName) }));
  await ensure(
    externalControlPlane.resource,
    externalControlPlane.make({
      metadata: here(clusterName),
      spec: { serviceAccountName: remoteServiceAccount, server },
    }),
  );
  await ensure(coreKinds.clusters, {
    apiVersion,
    kind: 'Cluster',
    metadata: here(clusterName),
    spec: {
      infrastructureRef: infrastructure('ScalewayAppleSiliconCluster', clusterName),
      controlPlaneRef: {
        apiGroup: 'controlplane.cluster.x-k8s.io',
        kind: 'ExternalControlPlane',
        name: clusterName,
      },
    },
  });
};

/** What makes a Mac a builder: a runner of GitHub on the host itself. */
const extras: Readonly<Partial<Record<FleetName, object>>> = {
  builders: {
    ghActionsRunner: {
      ghOrg: organization,
      ghAppSecretName: appSecretName,
      ghRunnerLabels: 'self-hosted,macos,vm-image-builder,simulation',
    },
  },
};

const ensureFleet = async ({ ensure }: Furniture, fleet: FleetName, replicas: number): Promise<void> => {
  const name = deploymentOf(fleet);
  await ensure(
    machineTemplate.resource,
    machineTemplate.make({
      metadata: here(name),
      spec: { template: { spec: { fleetName: fleet, ...extras[fleet] } } },
    }),
  );
  await ensure(coreKinds.machineDeployments, {
    apiVersion,
    kind: 'MachineDeployment',
    metadata: { ...here(name), labels: { [labels.fleet]: fleet } },
    spec: {
      clusterName,
      replicas,
      template: {
        metadata: { labels: { [labels.fleet]: fleet } },
        spec: {
          // Core asks for it here too; the stand-in does not.
          clusterName,
          // Nothing to hand over: Macs are made ready over SSH.
          bootstrap: { dataSecretName: 'none' },
          infrastructureRef: infrastructure('ScalewayAppleSiliconMachineTemplate', name),
        },
      },
    },
  });
};

/** A Machine of no MachineDeployment: as core has it, with its own infrastructure. */
export const addMachine = async (client: Client, name: string, spec: Partial<MachineSpec>): Promise<void> => {
  const metadata = { ...here(name), labels: { [labels.clusterName]: clusterName } };
  await client.create(machine.resource, machine.make({ metadata, spec }));
  await client.create(coreKinds.machines, {
    apiVersion,
    kind: 'Machine',
    metadata: here(name),
    spec: {
      clusterName,
      bootstrap: { dataSecretName: 'none' },
      infrastructureRef: infrastructure('ScalewayAppleSiliconMachine', name),
    },
  });
};

/** A machine goes when the jobs on it are done, as the chart has it: core waits for runners, and evicts none. */
const ensureDrainRule = ({ ensure }: Furniture): Promise<void> =>
  ensure(coreKinds.machineDrainRules, {
    apiVersion,
    kind: 'MachineDrainRule',
    metadata: here(`${claimPrefix}runners`),
    spec: {
      drain: { behavior: 'WaitCompleted' },
      machines: [{ selector: { matchLabels: { [labels.fleet]: 'runners' } } }],
      pods: [{ selector: { matchLabels: { [labels.runner]: 'true' } } }],
    },
  });

/** Each as a MachineDeployment of so many machines. One that is there keeps its size: somebody may have scaled it. */
export const ensureFleets = async (furniture: Furniture, server: string, sizes: FleetSizes): Promise<void> => {
  await ensureCluster(furniture, server);
  await ensureDrainRule(furniture);
  for (const fleet of fleetsOf(sizes)) await ensureFleet(furniture, fleet, sizes[fleet] ?? 0);
};
