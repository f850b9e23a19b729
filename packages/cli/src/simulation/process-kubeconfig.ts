import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createSubresources, type ObjectName } from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import type { ControlPlane } from './control-plane.ts';

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
