import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { sleep, systemClock } from '@tartan/kube/clock';
import { parseAllDocuments } from 'yaml';
import { apiRequest, getJson } from './api-request.ts';
import type { ControlPlane } from './control-plane.ts';

/** The address of a webhook. */
interface ClientConfig {
  service?: { path?: string };
  url?: string;
  caBundle?: string;
}

/** The fields of a manifest that are used here. */
export interface Manifest {
  kind: string;
  metadata: { name: string };
  webhooks?: readonly { clientConfig: ClientConfig }[];
  spec?: { conversion?: { strategy?: string; webhook?: { clientConfig?: ClientConfig } } };
}

/** The address of a process that serves webhooks, and its certificate authority (PEM). */
interface WebhookServer {
  url: string;
  caCertificate: string;
}

/** Kinds that need a cluster with containers and a certificate issuer. */
const inClusterKinds: ReadonlySet<string> = new Set(['Certificate', 'Issuer', 'Service', 'Deployment']);

/** Core's manifests for a core that runs as a process beside the cluster: all except those that would run it in the cluster. */
export const manifestsForProcess = (shipped: readonly Manifest[], server: WebhookServer): Manifest[] =>
  shipped
    .filter(({ kind }) => !inClusterKinds.has(kind))
    .map((manifest) => withConversionAt(withWebhooksAt(manifest, server), server));

const withWebhooksAt = (manifest: Manifest, server: WebhookServer): Manifest =>
  manifest.webhooks === undefined
    ? manifest
    : {
        ...manifest,
        webhooks: manifest.webhooks.map((webhook) => ({
          ...webhook,
          clientConfig: withServerUrl(webhook.clientConfig, server),
        })),
      };

const withConversionAt = (manifest: Manifest, server: WebhookServer): Manifest => {
  const { spec } = manifest;
  const webhook = spec?.conversion?.webhook;
  if (webhook?.clientConfig === undefined) return manifest;
  const clientConfig = withServerUrl(webhook.clientConfig, server);
  return { ...manifest, spec: { ...spec, conversion: { ...spec?.conversion, webhook: { ...webhook, clientConfig } } } };
};

const withServerUrl = ({ service, ...rest }: ClientConfig, { url, caCertificate }: WebhookServer): ClientConfig =>
  service === undefined
    ? rest
    : { ...rest, url: `${url}${service.path ?? '/'}`, caBundle: Buffer.from(caCertificate).toString('base64') };

type Plane = Pick<
  ControlPlane,
  'url' | 'caCertificate' | 'clientCertificate' | 'clientKey' | 'adminKubeconfigPath' | 'binaries'
>;

const waitTimeoutMs = 300_000;

/** Core's manifests, as `kubectl apply -k` renders them. */
export const shippedManifests = async ({ binaries }: Plane, config: string): Promise<Manifest[]> => {
  const { stdout } = await promisify(execFile)(binaries.kubectl, ['kustomize', config], { maxBuffer: 64 * 2 ** 20 });
  return parseAllDocuments(stdout).map((document): Manifest => document.toJS());
};

/** Applies core's manifests, with its webhooks on `port` of loopback, and waits until the API server and its controllers use them. */
export const installClusterApi = async (plane: Plane, shipped: readonly Manifest[], port: number): Promise<void> => {
  const server = { url: `https://127.0.0.1:${port}`, caCertificate: plane.caCertificate };
  const items = manifestsForProcess(shipped, server);
  await apply(plane, items);
  const definitions = items.filter(({ kind }) => kind === 'CustomResourceDefinition');
  await waitUntil('the API server serves the kinds of core', async () => {
    const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
    const { items: found } = await getJson<{ items: Definition[] }>(plane, path);
    return definitions.every(({ metadata }) => found.some((each) => isServed(each, metadata.name)));
  });
  await waitUntil(
    'the controller manager gathers the rights of core (a control plane without one cannot run it)',
    async () => {
      const path = '/apis/rbac.authorization.k8s.io/v1/clusterroles/capi-aggregated-manager-role';
      return ((await getJson<{ rules?: unknown[] | null }>(plane, path)).rules ?? []).length > 0;
    },
  );
};

interface Definition {
  metadata: { name: string };
  status?: { conditions?: { type: string; status: string }[] };
}

const isServed = ({ metadata, status }: Definition, name: string): boolean =>
  metadata.name === name &&
  (status?.conditions ?? []).some((condition) => condition.type === 'Established' && condition.status === 'True');

const apply = async ({ binaries, adminKubeconfigPath }: Plane, items: readonly Manifest[]): Promise<void> => {
  const args = ['apply', '--server-side', '--force-conflicts', '--kubeconfig', adminKubeconfigPath, '-f', '-'];
  const kubectl = spawn(binaries.kubectl, args, { stdio: ['pipe', 'ignore', 'pipe'] });
  const said = text(kubectl.stderr);
  kubectl.stdin.end(JSON.stringify({ apiVersion: 'v1', kind: 'List', items }));
  await once(kubectl, 'close');
  if (kubectl.exitCode !== 0) throw new Error(`kubectl could not apply what core ships: ${await said}`);
};

const waitUntil = async (what: string, isSo: () => Promise<boolean>): Promise<void> => {
  const deadline = systemClock.monotonic() + waitTimeoutMs;
  while (!(await isSo())) {
    if (systemClock.monotonic() > deadline) throw new Error(`waited ${waitTimeoutMs / 1000} s in vain until ${what}`);
    await sleep(systemClock, 50);
  }
};

/** A token of core's own service account, which has only the permissions of core's manifests. */
export const createCoreToken = async (plane: Plane): Promise<string> => {
  const { status, body } = await apiRequest(
    plane,
    '/api/v1/namespaces/capi-system/serviceaccounts/capi-manager/token',
    {
      method: 'POST',
      body: { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 24 * 60 * 60 } },
    },
  );
  if (status !== 201) throw new Error(`the API server gave no token for core: it answered ${status}`);
  const answer: { status: { token: string } } = JSON.parse(body);
  return answer.status.token;
};
