import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createKubernetes, serve } from '../src/index.ts';
import { httpsCluster, inProcessCluster, runRestartContract } from './index.ts';

const newFolder = (): { data: string; remove: () => void } => {
  const root = mkdtempSync(join(tmpdir(), 'tartan-restart-'));
  return { data: join(root, 'data'), remove: () => rmSync(root, { recursive: true, force: true }) };
};

runRestartContract(
  async () => {
    const { data, remove } = newFolder();
    let kubernetes = await createKubernetes({ data });
    const started = () => inProcessCluster((request) => kubernetes.handle(request));
    let cluster = started();
    return {
      name: cluster.name,
      request: (call) => cluster.request(call),
      stream: (call) => cluster.stream(call),
      restart: async () => {
        await cluster.close();
        kubernetes.stop();
        kubernetes = await createKubernetes({ data });
        cluster = started();
      },
      close: async () => {
        await cluster.close();
        kubernetes.stop();
        remove();
      },
    };
  },
  { title: 'the embedded Kubernetes survives a restart in process' },
);

runRestartContract(
  async () => {
    const { data, remove } = newFolder();
    let kubernetes = await createKubernetes({ data });
    let served = await serve(kubernetes);
    const { identity } = kubernetes;
    const { certificate: cert, key } = await identity.issue({
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
      usages: ['client auth', 'digital signature'],
      seconds: 3600,
    });
    // Uses the old address, CA and certificate after the restart.
    const cluster = httpsCluster({ url: served.url, ca: identity.caCertificate, cert, key });
    const { port } = served;
    return {
      ...cluster,
      restart: async () => {
        await served.close();
        kubernetes.stop();
        kubernetes = await createKubernetes({ data });
        served = await serve({ handle: kubernetes.handle, identity: kubernetes.identity, port });
      },
      close: async () => {
        await cluster.close();
        await served.close();
        kubernetes.stop();
        remove();
      },
    };
  },
  { title: 'the embedded Kubernetes survives a restart over HTTPS' },
);
