import { createKubernetes } from '@tartan/sim-kubernetes';
import { inProcessTransport } from '../transport/in-process-transport.ts';
import { runElectionSuite } from './suite/run.ts';

runElectionSuite('leader election keeps its promises with the embedded Kubernetes', async () => {
  const kubernetes = await createKubernetes();
  const user = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };
  return {
    transport: inProcessTransport(kubernetes.handle, { user }),
    stranger: inProcessTransport(kubernetes.handle),
    close: async () => kubernetes.stop(),
  };
});
