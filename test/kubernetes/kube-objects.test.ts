import { testControlPlane } from '@tartan/tools-kubernetes';
import { systemClock } from '@tartan/kube/clock';
import { runObjectSuite } from '../../packages/kube/src/objects/suite/run.ts';
import { httpsTransport } from '../../packages/kube/src/transport/https-transport.ts';

runObjectSuite('finalizers, status and events are as a real API server wants them', async () => {
  const real = await testControlPlane();
  const { url, caCertificate: ca, clientCertificate: cert, clientKey: key } = real;
  const credentials = () => ({ certificate: { cert, key } });
  const transport = httpsTransport({ server: url, ca, clock: systemClock, credentials });
  return { transport, stranger: transport, close: () => real.stop() };
});
