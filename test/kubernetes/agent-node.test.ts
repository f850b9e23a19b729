import { randomUUID } from 'node:crypto';
import { clusterRoleBindings, createClient, httpsTransport } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { testControlPlane } from '@tartan/tools-kubernetes';
import { joinBinding } from '../../packages/provider/src/identity/rights.ts';
import { type NodeCluster, runAgentNodeSuite } from './agent-node/suite.ts';

const apiGroup = 'rbac.authorization.k8s.io';

/** Node and RBAC authorizers, NodeRestriction, and only the rights that joining needs. */
const start = async (): Promise<NodeCluster> => {
  const real = await testControlPlane();
  const { url, caCertificate: ca, clientCertificate: cert, clientKey: key } = real;
  const certificate = { cert, key };
  const admin = httpsTransport({ server: url, ca, clock: systemClock, credentials: () => ({ certificate }) });
  const client = createClient(admin, { clock: systemClock });
  const name = `agent-node-${randomUUID().slice(0, 8)}`;
  await client.create(clusterRoleBindings, {
    apiVersion: `${apiGroup}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef: { apiGroup, kind: 'ClusterRole', name: joinBinding.clusterRole },
    subjects: [{ apiGroup, kind: 'Group', name: joinBinding.group }],
  });
  return {
    url,
    ca,
    admin,
    close: async () => {
      await client.delete(clusterRoleBindings, { name });
      admin.close();
      await real.stop();
    },
  };
};

runAgentNodeSuite('the agent as a Node of a real Kubernetes, with no more rights than a Node has', start);
