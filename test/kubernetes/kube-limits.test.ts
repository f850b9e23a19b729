import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { after, before, describe, test } from 'node:test';
import {
  type Client,
  configMaps,
  createClient,
  createSubresources,
  defineResource,
  httpsTransport,
  type KubeObject,
  namespaces,
  roleBindings,
  roles,
  serviceAccounts,
  type Transport,
  withRequestMetrics,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { type ControlPlane, testControlPlane } from '@tartan/tools-kubernetes';
import { createRequestLimiter } from '../../packages/kube/src/client/request-limiter.ts';

type WithSpec = KubeObject & { spec: object };
const flowControl = { group: 'flowcontrol.apiserver.k8s.io', version: 'v1', namespaced: false };
const priorityLevels = defineResource<WithSpec>({
  ...flowControl,
  kind: 'PriorityLevelConfiguration',
  plural: 'prioritylevelconfigurations',
});
const flowSchemas = defineResource<WithSpec>({ ...flowControl, kind: 'FlowSchema', plural: 'flowschemas' });

describe('a client on a real API server whose priority level has few seats and no queue', () => {
  const name = `limits-${randomUUID().slice(0, 8)}`;
  const codes: (number | undefined)[] = [];
  let cluster: ControlPlane;
  let admin: Client;
  let robot: Transport;

  before(async () => {
    cluster = await testControlPlane();
    const { url: server, caCertificate: ca, clientCertificate: cert, clientKey: key } = cluster;
    const transport = httpsTransport({ server, ca, clock, credentials: () => ({ certificate: { cert, key } }) });
    admin = createClient(transport, { clock });
    const metadata = { name };
    const inside = { name, namespace: name };
    const rbac = 'rbac.authorization.k8s.io';
    await admin.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata });
    await admin.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: inside });
    await admin.create(roles, {
      apiVersion: `${rbac}/v1`,
      kind: 'Role',
      metadata: inside,
      rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['*'] }],
    });
    await admin.create(roleBindings, {
      apiVersion: `${rbac}/v1`,
      kind: 'RoleBinding',
      metadata: inside,
      roleRef: { apiGroup: rbac, kind: 'Role', name },
      subjects: [{ kind: 'ServiceAccount', ...inside }],
    });
    await admin.create(priorityLevels, {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'PriorityLevelConfiguration',
      metadata,
      spec: {
        type: 'Limited',
        limited: { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse: { type: 'Reject' } },
      },
    });
    await admin.create(flowSchemas, {
      apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
      kind: 'FlowSchema',
      metadata,
      spec: {
        priorityLevelConfiguration: { name },
        matchingPrecedence: 100,
        rules: [
          {
            subjects: [{ kind: 'ServiceAccount', serviceAccount: inside }],
            resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'], namespaces: ['*'] }],
          },
        ],
      },
    });
    const { token } = await createSubresources(transport, { clock }).createToken(inside, {});
    const credentials = () => ({ headers: { authorization: `Bearer ${token}` } });
    robot = withRequestMetrics(httpsTransport({ server, ca, clock, credentials }), {
      host: 'test',
      count: ({ code }) => codes.push(code),
    });
  });
  after(async () => {
    await admin.delete(flowSchemas, { name });
    await admin.delete(priorityLevels, { name });
    await admin.delete(namespaces, { name });
    await cluster.stop();
  });

  const burst = (client: Client): Promise<unknown>[] =>
    Array.from({ length: 200 }, (_, index) =>
      client.create(
        configMaps,
        {
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { generateName: `limits-${index}-`, namespace: name },
          data: { text: 'x'.repeat(100_000) },
        },
        // For a slow machine.
        { deadlineMs: 300_000 },
      ),
    );

  test('refuses a part of a burst without a limiter', async (t) => {
    await Promise.allSettled(burst(createClient(robot, { clock })));
    const refused = codes.filter((code) => code === 429).length;
    t.diagnostic(`${refused} of 200 refused`);
    assert.ok(refused > 0, 'the server refused nothing, so this test shows nothing');
  });

  test('carries out a whole burst with a limiter, and refuses little', async (t) => {
    codes.length = 0;
    const limits = { qps: 1000, burst: 1000, maxInFlight: 50 };
    const limiter = createRequestLimiter({ clock, random: Math.random, ...limits });
    await Promise.all(burst(createClient(robot, { clock, flow: limiter.flow('test') })));
    const refused = codes.filter((code) => code === 429).length;
    t.diagnostic(`${refused} refused`);
    assert.equal(codes.filter((code) => code === 201).length, 200);
    assert.ok(refused <= 100, `${refused} refused`);
  });
});
