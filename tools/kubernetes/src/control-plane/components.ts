import { join } from 'node:path';
import { apiRequest } from '../api-request.ts';
import type { ControlPlaneFiles } from './certificates.ts';
import type { ComponentSpec } from './component.ts';
import type { Access } from './kubeconfig.ts';

// Every component is verified by a certificate of this control plane's own authority, so another process on its port cannot be
// mistaken for it.

export const etcd = (
  binary: string,
  dir: string,
  files: ControlPlaneFiles,
  access: Omit<Access, 'url'>,
): ComponentSpec => ({
  name: 'etcd',
  binary,
  portCount: 2,
  args: ([client, peer]) => [
    '--name=tartan',
    `--data-dir=${join(dir, 'etcd')}`,
    '--unsafe-no-fsync',
    '--log-level=warn',
    `--listen-client-urls=https://127.0.0.1:${client}`,
    `--advertise-client-urls=https://127.0.0.1:${client}`,
    `--listen-peer-urls=https://127.0.0.1:${peer}`,
    `--initial-advertise-peer-urls=https://127.0.0.1:${peer}`,
    `--initial-cluster=tartan=https://127.0.0.1:${peer}`,
    `--cert-file=${files.serverCertificate}`,
    `--key-file=${files.serverKey}`,
    `--trusted-ca-file=${files.ca}`,
    '--client-cert-auth',
    `--peer-cert-file=${files.serverCertificate}`,
    `--peer-key-file=${files.serverKey}`,
    `--peer-trusted-ca-file=${files.ca}`,
    '--peer-client-cert-auth',
  ],
  isReady: answersOk(access, '/health'),
});

export const apiServer = (
  binary: string,
  dir: string,
  files: ControlPlaneFiles,
  access: Omit<Access, 'url'>,
  { etcdPort, flags }: { etcdPort: number; flags: readonly string[] },
): ComponentSpec => ({
  name: 'kube-apiserver',
  binary,
  portCount: 1,
  args: ([port]) => [
    `--etcd-servers=https://127.0.0.1:${etcdPort}`,
    `--etcd-cafile=${files.ca}`,
    `--etcd-certfile=${files.clientCertificate}`,
    `--etcd-keyfile=${files.clientKey}`,
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    // The API server refuses a loopback address, and cannot find one without a default route: use an address for documentation.
    '--advertise-address=192.0.2.1',
    '--endpoint-reconciler-type=none',
    '--service-cluster-ip-range=10.0.0.0/24',
    '--allow-privileged=true',
    '--authorization-mode=Node,RBAC',
    '--enable-admission-plugins=NodeRestriction',
    '--enable-bootstrap-token-auth=true',
    `--client-ca-file=${files.ca}`,
    `--tls-cert-file=${files.serverCertificate}`,
    `--tls-private-key-file=${files.serverKey}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${files.tokenPublicKey}`,
    `--service-account-signing-key-file=${files.tokenPrivateKey}`,
    `--kubelet-client-certificate=${files.clientCertificate}`,
    `--kubelet-client-key=${files.clientKey}`,
    '--kubelet-preferred-address-types=InternalIP,ExternalIP,Hostname',
    `--cert-dir=${join(dir, 'kube-apiserver')}`,
    ...flags,
  ],
  isReady: answersOk(access, '/readyz'),
});

export const controllerManager = (
  binary: string,
  kubeconfig: string,
  files: ControlPlaneFiles,
  access: Omit<Access, 'url'>,
  flags: readonly string[],
): ComponentSpec => ({
  name: 'kube-controller-manager',
  binary,
  portCount: 1,
  args: ([port]) => [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${files.serverCertificate}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--root-ca-file=${files.ca}`,
    `--service-account-private-key-file=${files.tokenPrivateKey}`,
    `--cluster-signing-cert-file=${files.ca}`,
    `--cluster-signing-key-file=${files.caKey}`,
    '--controllers=*,bootstrap-signer-controller,token-cleaner-controller',
    ...flags,
  ],
  isReady: answersOk(access, '/healthz'),
});

export const scheduler = (
  binary: string,
  kubeconfig: string,
  files: ControlPlaneFiles,
  access: Omit<Access, 'url'>,
): ComponentSpec => ({
  name: 'kube-scheduler',
  binary,
  portCount: 1,
  args: ([port]) => [
    `--kubeconfig=${kubeconfig}`,
    '--leader-elect=false',
    '--bind-address=127.0.0.1',
    `--secure-port=${port}`,
    `--tls-cert-file=${files.serverCertificate}`,
    `--tls-private-key-file=${files.serverKey}`,
  ],
  isReady: answersOk(access, '/readyz'),
});

const answersOk =
  (access: Omit<Access, 'url'>, path: string): ComponentSpec['isReady'] =>
  async ([port], signal) =>
    (await apiRequest({ ...access, url: `https://127.0.0.1:${port}` }, path, { signal })).status === 200;
