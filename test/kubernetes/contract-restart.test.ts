import { startControlPlane } from '@tartan/tools-kubernetes';
import { httpsCluster, runRestartContract } from '../../sim/kubernetes/contract/index.ts';

runRestartContract(
  async () => {
    // Not the shared one: other tests must not see their server die.
    const real = await startControlPlane({ controllerManager: true });
    const cluster = httpsCluster({
      url: real.url,
      ca: real.caCertificate,
      cert: real.clientCertificate,
      key: real.clientKey,
    });
    return {
      ...cluster,
      restart: () => real.restartApiServer(),
      close: async () => {
        await cluster.close();
        await real.stop();
      },
    };
  },
  { title: 'a real control plane survives a restart of its API server' },
);
