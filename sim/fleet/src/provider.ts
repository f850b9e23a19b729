import { leaderElectionID, runnersLeaderElectionID, secretNames, serverNames } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  bindClusterRole,
  type Client,
  configMaps,
  customResourceDefinitions,
  grantPolicyRules,
  ignoreNotFound,
  leases,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { joinBinding, parseFlags, providerRights } from '@tartan/provider';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { clusterEntry, type ControlPlane, fleetNamespace as namespace, writeKubeconfig } from './control-plane.ts';
import { claimPrefix, clusterName, fleetNames } from './fleets.ts';
import { type Installer, untilServed } from './installer.ts';

const providerAccount = { namespace, name: 'tartan-provider' } as const;

/** Installs what the provider needs: the CRDs (with those of the stand-in for Cluster API core), its service account, and cluster-info. */
export const installProvider = async (
  plane: ControlPlane,
  installer: Installer,
  providerFlags: readonly string[],
): Promise<void> => {
  const { ensure } = installer;
  const wanted = [...definitions, ...(plane.needsClusterApi ? coreDefinitions() : [])];
  for (const definition of wanted) await ensure(customResourceDefinitions, definition);
  await untilServed(plane.client, wanted);
  await ensure(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: providerAccount });
  await grantProviderRights(installer, providerFlags);
  await installClusterInfo(plane, installer);
};

const grantProviderRights = async ({ ensure }: Installer, flags: readonly string[]): Promise<void> => {
  const parsed = parseFlags(flags, {});
  if (!('options' in parsed)) throw new Error('errors' in parsed ? parsed.errors.join('\n') : parsed.help);
  await grantPolicyRules(ensure, providerAccount.name, { account: providerAccount }, providerRights(parsed.options));
};

/** The ConfigMap cluster-info, as kubeadm creates it. */
const installClusterInfo = async (plane: ControlPlane, { ensure }: Installer): Promise<void> => {
  const { clusterRole, group } = joinBinding;
  await bindClusterRole(ensure, `${clusterRole}:${group}`, { group }, clusterRole);
  // JSON is YAML.
  const kubeconfig = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: '', cluster: clusterEntry(plane) }],
  });
  await ensure(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-public', name: 'cluster-info' },
    data: { kubeconfig },
  });
};

/** Flags of every simulated provider. */
export const providerFlags: readonly string[] = [
  `--secrets-namespace=${namespace}`,
  `--default-adopt-pool-prefix=${serverNames.defaultPoolPrefix}`,
  '--metrics-bind-address=0',
  '--health-probe-bind-address=0',
];

/** Shorter intervals than in production. */
export const shortIntervalFlags: readonly string[] = [
  '--inventory-interval=5s',
  '--host-poll-interval=500ms',
  '--orphan-reclaim-interval=5s',
  `--orphan-reclaim-claim-name-prefix=${claimPrefix}`,
];

export const writeProviderKubeconfig = (plane: ControlPlane, folder: string): Promise<string> =>
  writeKubeconfig(plane, folder, { account: providerAccount, name: 'provider' });

/** Deletes what the managers have created: SSH keys, the kubeconfig of core, Leases. */
export const deleteRuntimeObjects = async (client: Client): Promise<void> => {
  const names = [
    ...[...fleetNames, 'builders'].map((fleet) => secretNames.fleetSSH(fleet)),
    secretNames.kubeconfig(clusterName),
  ];
  for (const name of names) await ignoreNotFound(client.delete(secrets, { namespace, name }));
  for (const name of [leaderElectionID, runnersLeaderElectionID])
    await ignoreNotFound(client.delete(leases, { namespace, name }));
};
