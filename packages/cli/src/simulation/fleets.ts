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
import { z } from 'zod';
import { fleetNamespace as namespace } from './control-plane.ts';
import { appSecretName, organization } from './github.ts';
import type { Installer } from './installer.ts';
import { untilObjects } from './wait.ts';

/** Machines that are asked for, by fleet. Builders are there where there is a GitHub for them. */
export interface FleetSizes {
  readonly macos: number;
  readonly runners: number;
  readonly builders?: number;
}

/** From so many machines on one of them bakes images. */
const minMachinesForBuilder = 3;

/**
 * Machines, divided among the fleets: one is a builder, if there are enough or somebody says so; of the others the first fleet gets
 * what is left over, and is never empty.
 */
export const fleetSizes = (machines: number, wantedBuilders?: number): Required<FleetSizes> => {
  const builders = Math.min(wantedBuilders ?? (machines >= minMachinesForBuilder ? 1 : 0), machines - 1);
  const others = machines - builders;
  return { macos: Math.ceil(others / 2), runners: Math.floor(others / 2), builders };
};

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

/** What of Cluster API core a fleet is made of. */
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

/** The cluster that Machines belong to, which is the one that they join. */
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

/** What makes a Mac a builder: a runner of GitHub on the host itself. */
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
          // Core asks for it here too; the stand-in does not.
          clusterName,
          // Nothing to hand over: Macs are made ready over SSH.
          bootstrap: { dataSecretName: 'none' },
          infrastructureRef: infrastructureRef('ScalewayAppleSiliconMachineTemplate', name),
        },
      },
    },
  });
};

/** A Machine of no MachineDeployment: as core has it, with its own infrastructure. */
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

/** A machine goes when the jobs on it are done, as the chart has it: core waits for runners, and evicts none. */
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

/** Each as a MachineDeployment of so many machines. One that is there keeps its size: somebody may have scaled it. */
export const ensureFleets = async (installer: Installer, server: string, sizes: FleetSizes): Promise<void> => {
  await ensureCluster(installer, server);
  await ensureDrainRule(installer);
  for (const fleet of fleetsOf(sizes)) await ensureFleet(installer, fleet, sizes[fleet] ?? 0);
};

/** Waits, by a watch, until the provider knows so many Macs. False: the signal fired before. */
export const untilHostsFound = (client: Client, count: number, signal: AbortSignal): Promise<boolean> =>
  untilObjects(
    client,
    macHost.resource,
    (hosts) => hosts.filter(({ status }) => status?.state !== undefined).length >= count,
    signal,
  );

const replicasSchema = z.object({ replicas: z.number() }).catch({ replicas: 0 });

/** Machines that the fleets ask for, as they are by now, and so many as can get a Mac. */
export const desiredMachines = async (
  client: Client,
  macs: number,
): Promise<{ readonly macs: number; readonly wanted: number }> => {
  const { items } = await client.list(coreKinds.machineDeployments, { namespace });
  return { macs, wanted: items.reduce((sum, { spec }) => sum + replicasSchema.parse(spec).replicas, 0) };
};

/** The same, until that many machines are Ready. */
export const untilMachinesReady = (client: Client, count: number, signal: AbortSignal): Promise<boolean> =>
  untilObjects(
    client,
    machine.resource,
    (machines) => machines.filter(({ status }) => status?.ready === true).length >= count,
    signal,
  );
