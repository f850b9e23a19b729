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

/** Where machines, fleets and the provider's Secrets live on a laptop: where `kubectl` looks if nobody says where. */
export const fleetNamespace = 'default';

/** A Kubernetes for a simulated fleet: its own, or one that was there before. */
export interface ControlPlane {
  readonly url: string;
  /** Of a file that only its owner can read; its user may do what a fleet needs to be set up. */
  readonly kubeconfig: string;
  /** PEM. `undefined`: everybody trusts it anyway. */
  readonly ca: string | undefined;
  readonly client: Client;
  readonly transport: Transport;
  /** Plays Cluster API core, since the real one is not there. */
  readonly needsClusterApi: boolean;
  /** Nobody answers until what this resolves with is called. `undefined`: it is not ours to stop. */
  readonly pause: (() => Promise<() => Promise<void>>) | undefined;
  stop(): Promise<void>;
}

/** As the user of this kubeconfig. */
export const connect = async (
  kubeconfigPath: string,
): Promise<{ url: string; ca: string | undefined; client: Client; transport: Transport }> => {
  const config = await loadConfig({ env: {}, clock, kubeconfigPath });
  const transport = httpsTransport({ ...config, clock });
  return { url: config.server, ca: config.ca, client: createClient(transport, { clock }), transport };
};

const daySeconds = 86_400;

/** For a process, with the token of its own account: what it may not do shows here as it would in production. */
export const writeKubeconfig = async (
  { transport, url, ca }: ControlPlane,
  folder: string,
  { account, name }: { readonly account: Required<ObjectName>; readonly name: string },
): Promise<string> => {
  const { createToken } = createSubresources(transport, { clock });
  const { token } = await createToken(account, { expirationSeconds: 30 * daySeconds });
  const authority = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const file = join(folder, `${name}.kubeconfig`);
  // JSON is YAML.
  const text = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': name,
    clusters: [{ name, cluster: { server: url, ...authority } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
  });
  await writeFile(file, text, { mode: 0o600 });
  // One of an earlier start keeps the mode that it had.
  await chmod(file, 0o600);
  return file;
};
