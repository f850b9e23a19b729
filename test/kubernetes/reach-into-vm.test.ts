import { startControlPlane, testControlPlane } from '@tartan/tools-kubernetes';
import { embeddedCluster, realCluster } from './reach/clusters.ts';
import { runReachSuite } from './reach/suite.ts';

const asOlderClients = { KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false', KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false' };

runReachSuite('kubectl reaches into a virtual machine, on the embedded server', embeddedCluster);
runReachSuite(
  'kubectl reaches into a virtual machine, on the embedded server over SPDY',
  embeddedCluster,
  asOlderClients,
);
runReachSuite('kubectl reaches into a virtual machine', () => realCluster(testControlPlane));
runReachSuite('kubectl reaches into a virtual machine, over SPDY', () => realCluster(testControlPlane), asOlderClients);
runReachSuite(
  'kubectl reaches into a virtual machine behind an API server of 1.35 that trusts approved kubelets only',
  () =>
    realCluster(() =>
      startControlPlane({ controllerManager: true, verifyKubelets: true, apiServerFlags: ['--emulated-version=1.35'] }),
    ),
);
