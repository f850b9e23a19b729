import { testControlPlane } from '@tartan/tools-kubernetes';
import { httpsCluster, runContract } from '../../sim/kubernetes/contract/index.ts';

runContract(
  async () => {
    const real = await testControlPlane();
    const { url, caCertificate, clientCertificate, clientKey } = real;
    const cluster = httpsCluster({ url, ca: caCertificate, cert: clientCertificate, key: clientKey });
    const close = async (): Promise<void> => {
      await cluster.close();
      await real.stop();
    };
    return { ...cluster, close };
  },
  // Its controllers are other processes, and now and then stop to learn about new kinds.
  { title: 'a real control plane keeps the contract', patienceMilliseconds: 45_000 },
);
