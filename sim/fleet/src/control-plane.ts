import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type Client,
  createClient,
  createSubresources,
  httpsTransport,
  loadConfig,
  type ObjectName,
  type Transport,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';

/** The namespace of machines, fleets and Secrets of a simulation: the default of kubectl. */
export const fleetNamespace = 'default';

/** The Kubernetes of a simulated fleet. */
export interface ControlPlane {
  readonly url: string;
  /** The kubeconfig file of an administrator. Only its owner can read it. */
  readonly kubeconfig: string;
  /** PEM. Undefined: a public certificate authority. */
  readonly ca: string | undefined;
  readonly client: Client;
  readonly transport: Transport;
  /** Cluster API core is not installed, so the stand-in runs. */
  readonly needsClusterApi: boolean;
  /** Stops the API server until the returned function is called. Undefined: not possible. */
  readonly pause: (() => Promise<() => Promise<void>>) | undefined;
  stop(): Promise<void>;
}

export const connect = async (
  kubeconfigPath: string,
): Promise<Pick<ControlPlane, 'url' | 'ca' | 'client' | 'transport'>> => {
  const config = await loadConfig({ env: {}, clock, kubeconfigPath });
  const transport = httpsTransport({ ...config, clock });
  return { url: config.server, ca: config.ca, client: createClient(transport, { clock }), transport };
};

/** The cluster of a kubeconfig. */
export const clusterEntry = ({ url, ca }: Pick<ControlPlane, 'url' | 'ca'>) => ({
  server: url,
  ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
});

const daySeconds = 86_400;

/** Writes a kubeconfig with a token of the service account, so that missing permissions show as in production. */
export const writeKubeconfig = async (
  plane: ControlPlane,
  folder: string,
  { account, name }: { readonly account: Required<ObjectName>; readonly name: string },
): Promise<string> => {
  const { createToken } = createSubresources(plane.transport, { clock });
  const { token } = await createToken(account, { expirationSeconds: 30 * daySeconds });
  const file = join(folder, `${name}.kubeconfig`);
  // JSON is YAML.
  const text = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: clusterEntry(plane) }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
  await writeFile(file, text, { mode: 0o600 });
  // A file of an earlier start keeps its mode.
  await chmod(file, 0o600);
  return file;
};
