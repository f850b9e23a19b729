import { createKubernetes, type Kubernetes, serve } from '../src/index.ts';
import { memoryStorage } from '../src/storage/memory.ts';
import type { Storage } from '../src/storage/storage.ts';
import { httpsCluster, inProcessCluster, runContract } from './index.ts';

const history = 2_000;

/** The storage of a server that has run for a while: its history no longer contains the first changes. */
const usedStorage = (): Storage => {
  const storage = memoryStorage(history);
  const metadata = { name: 'old', uid: '', resourceVersion: '', creationTimestamp: '' };
  for (let write = 0; write < 2 * history; write++) storage.put('/old', { apiVersion: 'v1', kind: 'Old', metadata });
  storage.remove('/old');
  return storage;
};

const started = (): Promise<Kubernetes> => createKubernetes({ storage: usedStorage() });

runContract(
  async () => {
    const kubernetes = await started();
    const cluster = inProcessCluster(kubernetes.handle);
    const close = async (): Promise<void> => {
      await cluster.close();
      kubernetes.stop();
    };
    return { ...cluster, close };
  },
  { title: 'the embedded Kubernetes fulfils the contract in process' },
);

runContract(
  async () => {
    const kubernetes = await started();
    const { handle, identity } = kubernetes;
    const served = await serve({ handle, identity });
    const { certificate: cert, key } = await identity.issue({
      commonName: 'kubernetes-admin',
      organizations: ['system:masters'],
      usages: ['client auth', 'digital signature'],
      seconds: 3600,
    });
    const cluster = httpsCluster({ url: served.url, ca: identity.caCertificate, cert, key });
    const close = async (): Promise<void> => {
      await cluster.close();
      await served.close();
      kubernetes.stop();
    };
    return { ...cluster, close };
  },
  { title: 'the embedded Kubernetes fulfils the contract over HTTPS' },
);
