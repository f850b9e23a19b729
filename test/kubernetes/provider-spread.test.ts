import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { annotations } from '@tartan/api';
import {
  type Client,
  clusterRoleBindings,
  clusterRoles,
  createClient,
  createInformer,
  createLogger,
  createManager,
  deployments,
  httpsTransport,
  isKubeError,
  namespaces,
  nodes,
  pods,
  roleBindings,
  roles,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { testDeadline } from '@tartan/kube/testing';
import { type ControlPlane, testControlPlane } from '@tartan/tools-kubernetes';
import { nodeIndexes } from '../../packages/provider/src/indexes.ts';
import { createFleetSpread } from '../../packages/provider/src/spread/controller.ts';
import { fleetHash } from '../../packages/provider/src/spread/decide.ts';
import { macNode } from '../../packages/provider/src/spread/testing/mac-node.ts';

const id = `spread-${process.pid}`;
const name = { namespace: id, name: 'processor' };
const user = `${id}-user`;
const macs = [`${id}-a`, `${id}-b`] as const;
const log = createLogger({ write: () => {}, clock: systemClock, level: 'error' });

/** Only these rights: no list and no watch of Deployments. */
const grantRights = async (admin: Client): Promise<void> => {
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' } as const;
  const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
  const refTo = (kind: string) => ({ kind, name: id, apiGroup: 'rbac.authorization.k8s.io' });
  const deploymentRule = {
    apiGroups: ['apps'],
    resources: ['deployments'],
    resourceNames: [name.name],
    verbs: ['get', 'patch'],
  };
  const nodeRule = { apiGroups: [''], resources: ['nodes'], verbs: ['get', 'list', 'watch'] };
  const here = { name: id, namespace: id };
  await admin.create(roles, { ...rbac, kind: 'Role', metadata: here, rules: [deploymentRule] });
  await admin.create(roleBindings, { ...rbac, kind: 'RoleBinding', metadata: here, subjects, roleRef: refTo('Role') });
  await admin.create(clusterRoles, { ...rbac, kind: 'ClusterRole', metadata: { name: id }, rules: [nodeRule] });
  await admin.create(clusterRoleBindings, {
    ...rbac,
    kind: 'ClusterRoleBinding',
    metadata: { name: id },
    subjects,
    roleRef: refTo('ClusterRole'),
  });
};

const createDeployment = (admin: Client) =>
  admin.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: name,
    spec: {
      replicas: 4,
      selector: { matchLabels: { app: id } },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxSurge: 0, maxUnavailable: 4 } },
      template: {
        metadata: { labels: { app: id }, annotations: { 'example.com/theirs': 'stays' } },
        spec: {
          containers: [{ name: 'vm', image: 'macos' }],
          nodeSelector: { 'tuist.dev/fleet': id },
          tolerations: [{ operator: 'Exists' }],
          terminationGracePeriodSeconds: 0,
          topologySpreadConstraints: [
            {
              maxSkew: 1,
              topologyKey: 'kubernetes.io/hostname',
              whenUnsatisfiable: 'DoNotSchedule',
              labelSelector: { matchLabels: { app: id } },
              matchLabelKeys: ['pod-template-hash'],
            },
          ],
        },
      },
    },
  });

/** Plays the agents of the Macs: runs bound Pods, ends deleted ones. */
const playAgents = async (admin: Client, signal: AbortSignal): Promise<void> => {
  const { resourceVersion } = await admin.list(pods, { namespace: id });
  for await (const event of admin.watch(pods, { namespace: id, resourceVersion, signal })) {
    if (event.type !== 'ADDED' && event.type !== 'MODIFIED') continue;
    const { metadata, spec, status } = event.object;
    const pod = { namespace: id, name: metadata.name };
    if (metadata.deletionTimestamp !== undefined)
      await admin.delete(pods, pod, { gracePeriodSeconds: 0 }).catch(unlessGone);
    else if (spec?.nodeName && status?.phase !== 'Running') {
      const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'True' }));
      const body = { status: { phase: 'Running', conditions } };
      await admin.patch(pods, pod, { type: 'strategic', body }, { subresource: 'status' }).catch(unlessGone);
    }
  }
};

const unlessGone = (error: unknown): undefined => {
  if (isKubeError(error, 'notFound')) return undefined;
  throw error;
};

describe('a Deployment follows the Ready Macs on a real API server', () => {
  let real: ControlPlane;
  let admin: Client;
  let restricted: Client;
  const over = new AbortController();
  const running: Promise<unknown>[] = [];

  before(async () => {
    real = await testControlPlane();
    const connect = (cert: string, key: string) =>
      createClient(
        httpsTransport({
          server: real.url,
          ca: real.caCertificate,
          clock: systemClock,
          credentials: () => ({ certificate: { cert, key } }),
        }),
        { clock: systemClock },
      );
    admin = connect(real.clientCertificate, real.clientKey);
    const { certificate, key } = await real.issue({ user });
    restricted = connect(certificate, key);
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: id } });
    await grantRights(admin);
  });

  after(async () => {
    over.abort();
    await Promise.allSettled(running);
    for (const mac of macs) await admin.delete(nodes, { name: mac }).catch(unlessGone);
    await admin.delete(clusterRoleBindings, { name: id }).catch(unlessGone);
    await admin.delete(clusterRoles, { name: id }).catch(unlessGone);
    await admin.delete(namespaces, { name: id }).catch(unlessGone);
    await real.stop();
  });

  /** The Deployment, once it satisfies the condition. */
  const deploymentWhen = async (satisfied: (deployment: Awaited<ReturnType<typeof read>>) => boolean) => {
    const first = await read();
    if (satisfied(first)) return first;
    const { resourceVersion } = first.metadata;
    const signal = AbortSignal.any([over.signal, testDeadline()]);
    for await (const event of admin.watch(deployments, { namespace: id, resourceVersion, signal }))
      if (event.type === 'MODIFIED' && satisfied(event.object)) return event.object;
    throw new Error('the watch ended before the Deployment was as expected');
  };
  const read = () => admin.get(deployments, name);
  const hashOf = ({ spec }: Awaited<ReturnType<typeof read>>) =>
    spec?.template.metadata?.annotations?.[annotations.fleetHash];
  const isDone = ({ metadata, status }: Awaited<ReturnType<typeof read>>): boolean =>
    status?.observedGeneration === metadata.generation &&
    status?.availableReplicas === 4 &&
    status.updatedReplicas === 4;
  const podsOf = async (mac: string) =>
    (await admin.list(pods, { namespace: id, fieldSelector: `spec.nodeName=${mac}` })).items.length;

  it('is rolled by get and patch of that one Deployment, and its Pods spread over the Mac that joined', async () => {
    await assert.rejects(restricted.list(deployments, { namespace: id }), (error) => isKubeError(error, 'forbidden'));
    await admin.create(nodes, macNode(macs[0], { fleet: id }));
    running.push(playAgents(admin, over.signal).catch(() => {}));
    await createDeployment(admin);

    const cache = createInformer({
      client: restricted,
      resource: nodes,
      indexes: nodeIndexes,
      labelSelector: `tuist.dev/fleet=${id}`,
      clock: systemClock,
      random: Math.random,
      log,
    });
    const events: string[] = [];
    const controller = createFleetSpread({
      deployment: name,
      client: restricted,
      nodes: cache,
      events: { event: (_, { message }) => void events.push(message) },
      clock: systemClock,
      log,
      settleMs: 1000,
      lookAgainMs: 200,
    });
    assert.ok(controller);
    const manager = createManager({ caches: { nodes: cache }, controllers: [controller], clock: systemClock, log });
    running.push(manager.run(over.signal));

    const first = fleetHash([macs[0]]);
    await deploymentWhen((deployment) => hashOf(deployment) === first && isDone(deployment));
    assert.deepEqual([await podsOf(macs[0]), await podsOf(macs[1])], [4, 0]);

    await admin.create(nodes, macNode(macs[1], { fleet: id }));
    const both = fleetHash(macs);
    const spread = await deploymentWhen((deployment) => hashOf(deployment) === both && isDone(deployment));
    assert.deepEqual([await podsOf(macs[0]), await podsOf(macs[1])], [2, 2]);
    assert.equal(spread.spec?.template.metadata?.annotations?.['example.com/theirs'], 'stays');
    assert.equal(events.length, 2, 'one roll for each set of Macs');
  });
});
