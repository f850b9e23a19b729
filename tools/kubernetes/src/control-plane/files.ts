import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  createAuthority,
  createTokenKeys,
  issueClientCertificate,
  issueServerCertificate,
  type Identity,
} from './certificates.ts';

/** Paths of the key material that the components read. */
export interface ControlPlaneFiles {
  ca: string;
  caKey: string;
  serverCertificate: string;
  serverKey: string;
  /** By which the API server is known to etcd and to the kubelets. */
  clientCertificate: string;
  clientKey: string;
  tokenPublicKey: string;
  tokenPrivateKey: string;
}

export interface KeyMaterial {
  files: ControlPlaneFiles;
  authority: Identity;
  admin: Identity;
}

/** Creates everything that a control plane needs to know itself and its clients, below `dir`. */
export const writeKeyMaterial = async (dir: string): Promise<KeyMaterial> => {
  const folder = join(dir, 'pki');
  mkdirSync(folder, { mode: 0o700 });
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text, { mode: 0o600 });
    return path;
  };
  const authority = await createAuthority('kubernetes-ca');
  const server = await issueServerCertificate(authority, 'kube-apiserver');
  const client = await issueClientCertificate(authority, {
    user: 'kube-apiserver-kubelet-client',
    groups: ['system:masters'],
  });
  const admin = await issueClientCertificate(authority, { user: 'kubernetes-admin', groups: ['system:masters'] });
  const tokens = createTokenKeys();
  return {
    authority,
    admin,
    files: {
      ca: write('ca.crt', authority.certificate),
      caKey: write('ca.key', authority.key),
      serverCertificate: write('server.crt', server.certificate),
      serverKey: write('server.key', server.key),
      clientCertificate: write('client.crt', client.certificate),
      clientKey: write('client.key', client.key),
      tokenPublicKey: write('service-accounts.pub', tokens.publicKey),
      tokenPrivateKey: write('service-accounts.key', tokens.privateKey),
    },
  };
};
