import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSubresources } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import type { ControlPlane } from './control-plane.ts';
import { providerAccount } from './furnish.ts';

const daySeconds = 86_400;

/** For the provider, with the token of its own account: what it may not do shows here as it would in production. */
export const writeProviderKubeconfig = async (
  { transport, url, ca }: ControlPlane,
  folder: string,
): Promise<string> => {
  const { createToken } = createSubresources(transport, { clock });
  const { token } = await createToken(providerAccount, { expirationSeconds: 30 * daySeconds });
  const authority = ca === undefined ? {} : { 'certificate-authority-data': Buffer.from(ca).toString('base64') };
  const file = join(folder, 'provider.kubeconfig');
  // JSON is YAML.
  const text = JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'provider',
    clusters: [{ name: 'provider', cluster: { server: url, ...authority } }],
    users: [{ name: 'provider', user: { token } }],
    contexts: [{ name: 'provider', context: { cluster: 'provider', user: 'provider' } }],
  });
  await writeFile(file, text, { mode: 0o600 });
  // One of an earlier start keeps the mode that it had.
  await chmod(file, 0o600);
  return file;
};
