import { createKubernetes, type Kubernetes, serve } from '@tartan/sim-kubernetes';
import { systemClock } from '../clock/clock.ts';
import { httpsTransport } from '../transport/https-transport.ts';
import { inProcessTransport } from '../transport/in-process-transport.ts';
import { runClientSuite } from './suite/run.ts';

const admin = { commonName: 'kubernetes-admin', organizations: ['system:masters'] };
const unknownToken = { authorization: 'Bearer nobody-knows-this' };

runClientSuite('the client keeps its promises in process', async () => {
  const kubernetes = await createKubernetes();
  return {
    transport: inProcessTransport(kubernetes.handle, { user: admin }),
    stranger: inProcessTransport(kubernetes.handle, { headers: unknownToken }),
    close: async () => kubernetes.stop(),
  };
});

const certificateOf = async ({ identity }: Kubernetes): Promise<{ cert: string; key: string }> => {
  const { certificate, key } = await identity.issue({
    ...admin,
    usages: ['client auth', 'digital signature'],
    seconds: 3600,
  });
  return { cert: certificate, key };
};

runClientSuite('the client keeps its promises over HTTPS', async () => {
  const kubernetes = await createKubernetes();
  const { handle, identity } = kubernetes;
  const served = await serve({ handle, identity });
  const certificate = await certificateOf(kubernetes);
  const common = { server: served.url, ca: identity.caCertificate, clock: systemClock };
  return {
    transport: httpsTransport({ ...common, credentials: () => ({ certificate }) }),
    stranger: httpsTransport({ ...common, credentials: () => ({ headers: unknownToken }) }),
    close: async () => {
      await served.close();
      kubernetes.stop();
    },
  };
});
