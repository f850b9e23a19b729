import { definitions } from '@tartan/api/crds';
import { bindClusterRole, configMaps, customResourceDefinitions, grantRights, serviceAccounts } from '@tartan/kube';
import { joinBinding, parseFlags, providerRights } from '@tartan/provider';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { type ControlPlane, fleetNamespace as namespace } from './control-plane.ts';
import type { Furniture } from './furniture.ts';
import { untilServed } from './until-served.ts';

/** As whom the provider works. */
export const providerAccount = { namespace, name: 'tartan-provider' } as const;

/**
 * What an administrator installs before a provider can work: our kinds (and those of Cluster API core, where that is played), the
 * provider's account with its rights and no others, and what Macs need to join.
 */
export const furnish = async (
  plane: ControlPlane,
  furniture: Furniture,
  providerFlags: readonly string[],
): Promise<void> => {
  const { ensure } = furniture;
  const wanted = [...definitions, ...(plane.needsCore ? coreDefinitions() : [])];
  for (const definition of wanted) await ensure(customResourceDefinitions, definition);
  await untilServed(plane.client, wanted);
  await ensure(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: providerAccount });
  await grant(furniture, providerFlags);
  await letMacsJoin(plane, furniture);
};

const grant = async ({ ensure }: Furniture, flags: readonly string[]): Promise<void> => {
  const parsed = parseFlags(flags, {});
  if (!('options' in parsed)) throw new Error('errors' in parsed ? parsed.errors.join('\n') : parsed.help);
  await grantRights(ensure, providerAccount.name, { account: providerAccount }, providerRights(parsed.options));
};

/** As kubeadm leaves a cluster for those who join. */
const letMacsJoin = async ({ url, ca }: ControlPlane, { ensure }: Furniture): Promise<void> => {
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
