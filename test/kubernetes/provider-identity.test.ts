import { randomUUID } from 'node:crypto';
import {
  bindClusterRole,
  createClient,
  createSubresources,
  grantPolicyRules,
  httpsTransport,
  namespaces,
  serviceAccounts,
  withoutReasons,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { identityRights, joinBinding } from '@tartan/provider';
import { testControlPlane } from '@tartan/tools-kubernetes';
import { type JoinableCluster, runJoinSuite } from '../../packages/provider/src/identity/testing/join-suite.ts';

/** A provider with exactly the rights of `rights.ts`, as a ServiceAccount; and the rights of bootstrap tokens. */
const start = async (): Promise<JoinableCluster> => {
  const real = await testControlPlane();
  const { url, caCertificate: ca, clientCertificate: cert, clientKey: key } = real;
  const as: JoinableCluster['as'] = (who) =>
    httpsTransport({
      server: url,
      ca,
      clock: systemClock,
      credentials: () =>
        'token' in who ? { headers: { authorization: `Bearer ${who.token}` } } : { certificate: who },
    });
  const admin = as({ cert, key });
  const client = createClient(admin, { clock: systemClock });
  const name = `identity-${randomUUID().slice(0, 8)}`;
  const undo: (() => Promise<unknown>)[] = [];
  const account = { namespace: name, name };
  const put: Parameters<typeof grantPolicyRules>[0] = async (resource, object) => {
    const { metadata } = await client.create(resource, object);
    undo.push(() => client.delete(resource, metadata));
  };

  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  undo.push(() => client.delete(namespaces, { name }));
  await client.create(serviceAccounts, {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name, namespace: name },
  });
  await grantPolicyRules(put, name, { account }, withoutReasons(identityRights));
  await bindClusterRole(put, `${name}-join`, { group: joinBinding.group }, joinBinding.clusterRole);
  const { token } = await createSubresources(admin, { clock: systemClock }).createToken(account, {});
  const provider = as({ token });
  return {
    url,
    ca,
    admin,
    provider,
    as,
    close: async () => {
      for (const each of undo.toReversed()) await each();
      admin.close();
      provider.close();
      await real.stop();
    },
  };
};

runJoinSuite('a Mac joins a real Kubernetes with no more rights than it needs', start);
