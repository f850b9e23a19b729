import { createKubernetes } from '@tartan/sim-kubernetes';
import { inProcessTransport } from '../transport/in-process-transport.ts';
import { runObjectSuite } from './suite/run.ts';

runObjectSuite('the helpers for objects keep their promises with the embedded Kubernetes', async () => {
  const kubernetes = await createKubernetes();
  const user = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };
  return {
    transport: inProcessTransport(kubernetes.handle, { user }),
    stranger: inProcessTransport(kubernetes.handle),
    close: async () => kubernetes.stop(),
  };
});
