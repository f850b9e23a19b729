import { randomBytes, randomUUID } from 'node:crypto';
import { dispatchAudience } from '@tartan/api';
import {
  bindClusterRole,
  certificateSigningRequests,
  clusterRoleBindings,
  configMaps,
  createClient,
  createSubresources,
  httpsTransport,
  isKubeError,
  leases,
  namespaces,
  nodes,
  pods,
  secrets,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { joinBinding } from '@tartan/provider';
import { testControlPlane } from '@tartan/tools-kubernetes';
import { mintJoinToken } from '../../../packages/provider/src/identity/join-token.ts';

type Credentials = { token: string } | { cert: string; key: string };

/** The result of a call: `allowed`, or why it was refused. */
export const outcomeOf = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => 'allowed',
    (error: unknown) => (isKubeError(error) ? error.reason : String(error)),
  );

/**
 * Two Macs on a real API server: `mine`, with whose rights the tests act, and `theirs`, both with a Node, a Lease and a Pod with a Secret.
 * And the namespace of the provider, with its Secrets.
 */
export const twoMacs = async () => {
  const plane = await testControlPlane();
  const { url, caCertificate: ca, clientCertificate, clientKey } = plane;
  const opened: Transport[] = [];
  const as = (who: Credentials) => {
    const credentials = () =>
      'token' in who ? { headers: { authorization: `Bearer ${who.token}` } } : { certificate: who };
    const transport = httpsTransport({ server: url, ca, clock, credentials });
    opened.push(transport);
    return {
      client: createClient(transport, { clock }),
      subresources: createSubresources(transport, { clock }),
      transport,
    };
  };
  const admin = as({ cert: clientCertificate, key: clientKey });
  const { client } = admin;
  const id = randomUUID().slice(0, 8);
  const [mine, theirs] = [`mac-1-${id}`, `mac-2-${id}`];
  const [jobs, provider] = [`jobs-${id}`, `provider-${id}`];
  const here = (name: string, namespace = jobs) => ({ namespace, name });

  for (const name of [jobs, provider])
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  for (const name of ['robot', 'elsewhere'])
    await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: here(name) });
  for (const metadata of [here('mine'), here('theirs'), here('unused'), here('ssh-keys', provider)])
    await client.create(secrets, { apiVersion: 'v1', kind: 'Secret', metadata, data: { key: 'eA==' } });
  await client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: here('settings'),
    data: { a: 'b' },
  });
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: theirs } });
  await client.create(leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: here(theirs, 'kube-node-lease'),
    spec: { holderIdentity: theirs },
  });
  const addPod = (name: string, nodeName: string, secret: string, account: string) =>
    client.create(pods, {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: here(name),
      spec: {
        nodeName,
        serviceAccountName: account,
        containers: [
          {
            name: 'vm',
            image: 'macos',
            envFrom: [{ secretRef: { name: secret } }, { configMapRef: { name: 'settings', optional: true } }],
          },
        ],
        volumes: [
          {
            name: 'token',
            projected: { sources: [{ serviceAccountToken: { audience: dispatchAudience, path: 'token' } }] },
          },
        ],
      },
    });

  const issued = await plane.issue({ user: `system:node:${mine}`, groups: ['system:nodes'] });
  const joinRole = `${id}-join`;
  await bindClusterRole(client.create, joinRole, { group: joinBinding.group }, joinBinding.clusterRole);
  const token = await mintJoinToken(client, {
    machine: { namespace: provider, name: mine, uid: 'u1' },
    record: async () => {},
    clock,
    random: randomBytes,
    lifetimeMs: 600_000,
  });

  return {
    admin,
    mac: as({ cert: issued.certificate, key: issued.key }),
    joining: as({ token: token.reveal() }),
    token,
    mine,
    theirs,
    jobs,
    provider,
    here,
    /** Once their Nodes exist. */
    addPods: async () => ({
      own: await addPod('own', mine, 'mine', 'robot'),
      foreign: await addPod('foreign', theirs, 'theirs', 'robot'),
    }),
    close: async () => {
      const { items } = await client.list(certificateSigningRequests);
      const asked = items.filter(({ spec }) => spec.username?.endsWith(mine) || spec.username?.endsWith(token.tokenID));
      const gone: Promise<unknown>[] = [
        ...[jobs, provider].map((name) => client.delete(namespaces, { name })),
        ...[mine, theirs].flatMap((name) => [
          client.delete(nodes, { name }),
          client.delete(leases, here(name, 'kube-node-lease')),
        ]),
        ...['own', 'foreign'].map((name) => client.delete(pods, here(name), { gracePeriodSeconds: 0 })),
        client.delete(secrets, here(`bootstrap-token-${token.tokenID}`, 'kube-system')),
        ...asked.map(({ metadata: { name } }) => client.delete(certificateSigningRequests, { name })),
        client.delete(clusterRoleBindings, { name: joinRole }),
      ];
      await Promise.allSettled(gone);
      for (const transport of opened) transport.close();
      await plane.stop();
    },
  };
};

export type TwoMacs = Awaited<ReturnType<typeof twoMacs>>;
