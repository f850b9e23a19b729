/** Where the API server finds a webhook. */
interface ClientConfig {
  service?: { path?: string };
  url?: string;
  caBundle?: string;
}

/** As much of a manifest as has to be known here. */
export interface Manifest {
  kind: string;
  metadata: { name: string };
  webhooks?: readonly { clientConfig: ClientConfig }[];
  spec?: { conversion?: { strategy?: string; webhook?: { clientConfig?: ClientConfig } } };
}

/** The address of a process that serves webhooks, and the authority that vouches for it (PEM). */
export interface WebhookServer {
  url: string;
  caCertificate: string;
}

/** What only makes sense in a cluster that runs containers, and has somebody who issues certificates. */
const ofContainers: ReadonlySet<string> = new Set(['Certificate', 'Issuer', 'Service', 'Deployment']);

/** What is to be applied for a core that is a process beside the cluster: all that it ships, save for what would run it in the cluster. */
export const manifestsForProcess = (shipped: readonly Manifest[], server: WebhookServer): Manifest[] =>
  shipped
    .filter(({ kind }) => !ofContainers.has(kind))
    .map((manifest) => withConversionAt(withWebhooksAt(manifest, server), server));

const withWebhooksAt = (manifest: Manifest, server: WebhookServer): Manifest =>
  manifest.webhooks === undefined
    ? manifest
    : {
        ...manifest,
        webhooks: manifest.webhooks.map((webhook) => ({ ...webhook, clientConfig: at(webhook.clientConfig, server) })),
      };

const withConversionAt = (manifest: Manifest, server: WebhookServer): Manifest => {
  const { spec } = manifest;
  const webhook = spec?.conversion?.webhook;
  if (webhook?.clientConfig === undefined) return manifest;
  const clientConfig = at(webhook.clientConfig, server);
  return { ...manifest, spec: { ...spec, conversion: { ...spec?.conversion, webhook: { ...webhook, clientConfig } } } };
};

const at = ({ service, ...rest }: ClientConfig, { url, caCertificate }: WebhookServer): ClientConfig =>
  service === undefined
    ? rest
    : { ...rest, url: `${url}${service.path ?? '/'}`, caBundle: Buffer.from(caCertificate).toString('base64') };
