import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { definitions } from '@tartan/api/crds';
import {
  type Client,
  configMaps,
  createClient,
  customResourceDefinitions,
  httpsTransport,
  loadConfig,
  type Transport,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { joinBinding } from '@tartan/provider';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { adminKubeconfig, bindClusterRole, createKubernetes, serve } from '@tartan/sim-kubernetes';

/** Where machines, fleets and the provider's Secrets live on a laptop: where `kubectl` looks if nobody says where. */
export const fleetNamespace = 'default';

export interface ControlPlane {
  readonly url: string;
  /** Of a file that only its owner can read; its user may do everything. */
  readonly kubeconfig: string;
  /** PEM. */
  readonly ca: string;
  readonly client: Client;
  readonly transport: Transport;
  stop(): Promise<void>;
}

/**
 * An embedded Kubernetes over HTTPS in which a provider can work: our kinds and those of Cluster API core, and the
 * address under which Macs find it. Nodes and those who join have no more rights than on a real one.
 */
export const startControlPlane = async (options: { folder: string; port?: number }): Promise<ControlPlane> => {
  const { folder, port = 0 } = options;
  const kubernetes = await createKubernetes();
  bindClusterRole(kubernetes.api, joinBinding.clusterRole, { kind: 'Group', name: joinBinding.group });
  const { handle, identity } = kubernetes;
  const server = await serve({ handle, identity, port }).catch((error: unknown) => {
    kubernetes.stop();
    throw error;
  });
  const kubeconfig = join(folder, 'kubeconfig');
  const text = await adminKubeconfig(identity, server.url);
  await writeFile(kubeconfig, text, { mode: 0o600 });
  const config = await loadConfig({ env: {}, clock: systemClock, kubeconfigPath: kubeconfig });
  const transport = httpsTransport({ ...config, clock: systemClock });
  const client = createClient(transport, { clock: systemClock });
  const ca = identity.caCertificate;
  await furnish(client, { server: server.url, ca });
  return {
    url: server.url,
    kubeconfig,
    ca,
    client,
    transport,
    stop: async () => {
      transport.close();
      await server.close();
      kubernetes.stop();
    },
  };
};

const furnish = async (client: Client, { server, ca }: { server: string; ca: string }): Promise<void> => {
  for (const definition of [...definitions, ...coreDefinitions()])
    await client.create(customResourceDefinitions, definition);
  const cluster = { server, 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  // As kubeadm leaves it for those who join. JSON is YAML.
  const kubeconfig = JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [{ name: '', cluster }] });
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-public', name: 'cluster-info' },
    data: { kubeconfig },
  });
};
