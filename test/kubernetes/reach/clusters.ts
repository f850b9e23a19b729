import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { httpsTransport, type Transport } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { adminKubeconfig, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { type ControlPlane, ensureBinaries } from '@tartan/tools-kubernetes';

/** The part of a cluster between a kubelet and kubectl. */
export interface ReachCluster {
  readonly ca: string;
  readonly admin: Transport;
  readonly kubeconfig: string;
  readonly kubectl: string;
  /** With exactly the rights of this Node. */
  asNode(name: string): Promise<Transport>;
  close(): Promise<void>;
}

const over = (server: string, ca: string, certificate: { cert: string; key: string }): Transport =>
  httpsTransport({ server, ca, clock: systemClock, credentials: () => ({ certificate }) });

export const realCluster = async (start: () => Promise<ControlPlane>): Promise<ReachCluster> => {
  const { url, caCertificate: ca, clientCertificate, clientKey, ...plane } = await start();
  const admin = over(url, ca, { cert: clientCertificate, key: clientKey });
  const { kubectl } = plane.binaries;
  return {
    ca,
    admin,
    kubeconfig: plane.adminKubeconfigPath,
    kubectl,
    asNode: async (name) => {
      const { certificate: cert, key } = await plane.issue({ user: `system:node:${name}`, groups: ['system:nodes'] });
      return over(url, ca, { cert, key });
    },
    close: async () => {
      admin.close();
      await plane.stop();
    },
  };
};

export const embeddedCluster = async (): Promise<ReachCluster> => {
  const { kubectl } = await ensureBinaries(['kubectl']);
  const kubernetes = await createKubernetes();
  const { identity } = kubernetes;
  const served = await serve(kubernetes);
  const folder = mkdtempSync(join(tmpdir(), 'tartan-reach-'));
  const kubeconfig = join(folder, 'kubeconfig');
  writeFileSync(kubeconfig, await adminKubeconfig(identity, served.url), { mode: 0o600 });
  const as = async (commonName: string, organization: string): Promise<Transport> => {
    const usages = ['client auth', 'digital signature'] as const;
    const { certificate: cert, key } = await identity.issue({
      commonName,
      organizations: [organization],
      usages,
      seconds: 3600,
    });
    return over(served.url, identity.caCertificate, { cert, key });
  };
  const admin = await as('admin', 'system:masters');
  return {
    ca: identity.caCertificate,
    admin,
    kubeconfig,
    kubectl,
    asNode: (name) => as(`system:node:${name}`, 'system:nodes'),
    close: async () => {
      admin.close();
      await served.close();
      kubernetes.stop();
      rmSync(folder, { recursive: true });
    },
  };
};
