import { stringify } from 'yaml';

/** Address and credentials of an API server. */
export interface Access {
  url: string;
  /** PEM. */
  caCertificate: string;
  clientCertificate?: string;
  clientKey?: string;
  token?: string;
}

/** A kubeconfig with its certificates and keys inside. */
export const formatKubeconfig = (access: Access): string =>
  stringify({
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'tartan',
    clusters: [
      { name: 'tartan', cluster: { server: access.url, 'certificate-authority-data': toBase64(access.caCertificate) } },
    ],
    users: [
      {
        name: 'tartan',
        user: {
          ...(access.clientCertificate !== undefined && {
            'client-certificate-data': toBase64(access.clientCertificate),
          }),
          ...(access.clientKey !== undefined && { 'client-key-data': toBase64(access.clientKey) }),
          ...(access.token !== undefined && { token: access.token }),
        },
      },
    ],
    contexts: [{ name: 'tartan', context: { cluster: 'tartan', user: 'tartan' } }],
  });

const toBase64 = (text: string): string => Buffer.from(text).toString('base64');
