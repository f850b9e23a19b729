import { testControlPlane } from '@tartan/tools-kubernetes';
import { systemClock } from '@tartan/kube/clock';
import { runClientSuite } from '../../packages/kube/src/client/suite/run.ts';
import { httpsTransport } from '../../packages/kube/src/transport/https-transport.ts';

runClientSuite('the client keeps its promises with a real API server', async () => {
  const real = await testControlPlane();
  const { url, caCertificate, clientCertificate: cert, clientKey: key } = real;
  const common = { server: url, ca: caCertificate, clock: systemClock };
  return {
    transport: httpsTransport({ ...common, credentials: () => ({ certificate: { cert, key } }) }),
    stranger: httpsTransport({
      ...common,
      credentials: () => ({ headers: { authorization: 'Bearer nobody-knows-this' } }),
    }),
    close: () => real.stop(),
  };
});
