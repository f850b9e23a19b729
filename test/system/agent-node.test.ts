import { httpsTransport } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { bindClusterRole, createKubernetes, serve } from '@tartan/sim-kubernetes';
import { joinBinding } from '../../packages/provider/src/identity/rights.ts';
import { type NodeCluster, runAgentNodeSuite } from '../kubernetes/agent-node/suite.ts';

const start = async (): Promise<NodeCluster> => {
  const kubernetes = await createKubernetes();
  bindClusterRole(kubernetes.api, joinBinding.clusterRole, { kind: 'Group', name: joinBinding.group });
  const { handle, identity } = kubernetes;
  const served = await serve({ handle, identity, host: '127.0.0.1', port: 0 });
  const usages = ['client auth', 'digital signature'] as const;
  const who = { commonName: 'admin', organizations: ['system:masters'], usages, seconds: 3600 };
  const { certificate: cert, key } = await identity.issue(who);
  const ca = identity.caCertificate;
  const credentials = () => ({ certificate: { cert, key } });
  const admin = httpsTransport({ server: served.url, ca, clock: systemClock, credentials });
  return {
    url: served.url,
    ca,
    admin,
    close: async () => {
      admin.close();
      await served.close();
      kubernetes.stop();
    },
  };
};

runAgentNodeSuite('the agent as a Node of the embedded Kubernetes, over HTTPS', start);
