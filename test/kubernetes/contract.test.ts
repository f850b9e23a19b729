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
  { title: 'a real control plane fulfils the contract', isReal: true },
);
