import { cluster, externalControlPlane, machineTemplate, remoteServiceAccount } from '@tartan/api';
import { type Client, defineResource, grantPolicyRules, type KubeObject, serviceAccounts } from '@tartan/kube';
import { remoteRights } from '@tartan/provider';
import { fleetNamespace as namespace } from '@tartan/sim-fleet';

/** The part of core's kinds that the tests here read. */
interface Core extends KubeObject {
  spec?: Record<string, unknown>;
  status?: {
    phase?: string;
    availableReplicas?: number;
    nodeRef?: { name: string };
    conditions?: { type: string; status: string; lastTransitionTime: string }[];
  };
}

const apiVersion = 'cluster.x-k8s.io/v1beta1';
const core = (kind: string, plural: string) =>
  defineResource<Core>({ group: 'cluster.x-k8s.io', version: 'v1beta1', kind, plural, namespaced: true });

const clusters = core('Cluster', 'clusters');
export const machines = core('Machine', 'machines');
export const machineDeployments = core('MachineDeployment', 'machinedeployments');

const here = (name: string) => ({ namespace, name });
/** References in v1beta1 have a version and a namespace. */
const refTo = ({ apiVersion: version, kind }: { apiVersion?: string; kind?: string }, name: string) => ({
  apiVersion: version,
  kind,
  ...here(name),
});

const letCoreIn = async (client: Client): Promise<void> => {
  const account = here(remoteServiceAccount);
  await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  await grantPolicyRules(client.create, account.name, { account }, { clusterWide: remoteRights });
};

/** A Cluster and a fleet of one Mac, as charts for v1beta1 wrote them. */
export const createFleet = async (client: Client, server: string, fleet: string): Promise<void> => {
  await letCoreIn(client);
  const infrastructure = cluster.make({ metadata: here(fleet) });
  const controlPlane = externalControlPlane.make({
    metadata: here(fleet),
    spec: { serviceAccountName: remoteServiceAccount, server },
  });
  const template = machineTemplate.make({ metadata: here(fleet), spec: { template: { spec: { fleetName: fleet } } } });
  await client.create(cluster.resource, infrastructure);
  await client.create(externalControlPlane.resource, controlPlane);
  await client.create(machineTemplate.resource, template);
  await client.create(clusters, {
    apiVersion,
    kind: 'Cluster',
    metadata: here(fleet),
    spec: { infrastructureRef: refTo(infrastructure, fleet), controlPlaneRef: refTo(controlPlane, fleet) },
  });
  await client.create(machineDeployments, {
    apiVersion,
    kind: 'MachineDeployment',
    metadata: here(fleet),
    spec: {
      clusterName: fleet,
      replicas: 1,
      selector: {},
      template: {
        spec: {
          clusterName: fleet,
          bootstrap: { dataSecretName: 'none' },
          infrastructureRef: refTo(template, fleet),
        },
      },
    },
  });
};
