import { leaderElectionID, runnersLeaderElectionID, secretNames, serverNames } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  bindClusterRole,
  type Client,
  configMaps,
  customResourceDefinitions,
  grantPolicyRules,
  isKubeError,
  leases,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { joinBinding, parseFlags, providerRights } from '@tartan/provider';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { type ControlPlane, fleetNamespace as namespace, fleetNamespace, writeKubeconfig } from './control-plane.ts';
import { claimPrefix, clusterName, fleetNames } from './fleets.ts';
import { type Installer, untilServed } from './installer.ts';

/** As whom the provider works. */
const providerAccount = { namespace, name: 'tartan-provider' } as const;

/**
 * What an administrator installs before a provider can work: our kinds (and those of Cluster API core, where that is played), the
 * provider's account with its rights and no others, and what Macs need to join.
 */
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

/** As kubeadm leaves a cluster for those who join. */
const installClusterInfo = async ({ url, ca }: ControlPlane, { ensure }: Installer): Promise<void> => {
  const { clusterRole, group } = joinBinding;
  await bindClusterRole(ensure, `${clusterRole}:${group}`, { group }, clusterRole);
  const authority = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  // JSON is YAML.
  const kubeconfig = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: '', cluster: { server: url, ...authority } }],
  });
  await ensure(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-public', name: 'cluster-info' },
    data: { kubeconfig },
  });
};

/** Flags of every provider here, in this process or in one of its own. */
export const providerFlags: readonly string[] = [
  `--secrets-namespace=${fleetNamespace}`,
  `--default-adopt-pool-prefix=${serverNames.defaultPoolPrefix}`,
  '--metrics-bind-address=0',
  '--health-probe-bind-address=0',
];

/** Nothing here takes longer than some seconds, so nobody is as patient as in production. */
export const shortIntervalFlags: readonly string[] = [
  '--inventory-interval=5s',
  '--host-poll-interval=500ms',
  '--orphan-reclaim-interval=5s',
  `--orphan-reclaim-claim-name-prefix=${claimPrefix}`,
];

/** For the provider, as its own account. */
export const writeProviderKubeconfig = (plane: ControlPlane, folder: string): Promise<string> =>
  writeKubeconfig(plane, folder, { account: providerAccount, name: 'provider' });

/** What is made while a fleet lives: the SSH keys of fleets, the kubeconfig of core, the leases of the managers. */
export const deleteRuntimeObjects = async (client: Client): Promise<void> => {
  const names = [
    ...[...fleetNames, 'builders'].map((fleet) => secretNames.fleetSSH(fleet)),
    secretNames.kubeconfig(clusterName),
  ];
  const removals = [
    ...names.map((name) => client.delete(secrets, { namespace, name })),
    ...[leaderElectionID, runnersLeaderElectionID].map((name) => client.delete(leases, { namespace, name })),
  ];
  for (const removal of await Promise.allSettled(removals))
    if (removal.status === 'rejected' && !isKubeError(removal.reason, 'notFound')) throw removal.reason;
};
