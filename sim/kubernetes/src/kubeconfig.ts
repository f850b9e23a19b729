import { stringify } from 'yaml';
import type { Identity } from './auth/identity.ts';

const daySeconds = 86_400;

/** A kubeconfig with everything inline, for somebody who may do anything. Holds a private key: write it with mode 0600. */
export const adminKubeconfig = async (identity: Identity, server: string): Promise<string> => {
  const { certificate, key } = await identity.issue({
    commonName: 'kubernetes-admin',
    organizations: ['system:masters'],
    usages: ['client auth', 'digital signature'],
    seconds: 365 * daySeconds,
  });
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  return stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: 'tartan', cluster: { server, 'certificate-authority-data': base64(identity.caCertificate) } }],
    users: [
      { name: 'admin', user: { 'client-certificate-data': base64(certificate), 'client-key-data': base64(key) } },
    ],
    contexts: [{ name: 'tartan', context: { cluster: 'tartan', user: 'admin' } }],
    'current-context': 'tartan',
  });
};
