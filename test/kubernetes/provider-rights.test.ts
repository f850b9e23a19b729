import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { externalControlPlane, machine } from '@tartan/api';
import { definitions } from '@tartan/api/crds';
import {
  type Client,
  clusterRoleBindings,
  clusterRoles,
  createClient,
  createLogger,
  createRedactor,
  createSubresources,
  customResourceDefinitions,
  httpsTransport,
  namespaces,
  roleBindings,
  roles,
  serviceAccounts,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { createProvider, coreClusters, providerRights, type Right } from '@tartan/provider';
import { type ControlPlane, startControlPlane } from '@tartan/tools-kubernetes';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { scriptedWork } from '../../packages/provider/src/machine/testing/scripted.ts';
import { oneMac } from '../../packages/provider/src/manager/testing/one-mac.ts';
import { namespace, optionsWith, settings } from '../../packages/provider/src/manager/testing/stage.ts';
import { liveOnce, unlessGone } from '../../packages/provider/src/manager/testing/whole-life.ts';

const apiGroup = 'rbac.authorization.k8s.io';
const apiVersion = `${apiGroup}/v1`;
const name = 'manager';
const options = optionsWith();

const grant = async (client: Client): Promise<void> => {
  const subjects = [{ kind: 'ServiceAccount', name, namespace }];
  const copied = (rules: readonly Right[]) => structuredClone(rules) as never;
  const { clusterWide, inNamespace } = providerRights(options);
  await client.create(clusterRoles, {
    apiVersion,
    kind: 'ClusterRole',
    metadata: { name },
    rules: copied(clusterWide),
  });
  const roleRef = { apiGroup, kind: 'ClusterRole', name };
  await client.create(clusterRoleBindings, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata: { name },
    roleRef,
    subjects,
  });
  for (const [where, rights] of Object.entries(inNamespace)) {
    const metadata = { namespace: where, name };
    await client.create(roles, { apiVersion, kind: 'Role', metadata, rules: copied(rights) });
    const ref = { apiGroup, kind: 'Role', name };
    await client.create(roleBindings, { apiVersion, kind: 'RoleBinding', metadata, roleRef: ref, subjects });
  }
};

const serverID = '6f1c0a52-0d7e-4a2b-8f43-3c2d1b0a9e87';

/** The server of this test is real, and tells nobody in this process when something is there. */
const eventually = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};

describe('the manager on a real API server', { timeout: 180_000 }, () => {
  // One of its own: MacHosts belong to no namespace.
  let controlPlane: ControlPlane | undefined;
  after(() => controlPlane?.stop());

  test('works with the rights of its table, and is refused nothing (INC-16)', async (t) => {
    controlPlane = await startControlPlane();
    const { url, caCertificate: ca, clientCertificate: cert, clientKey: key } = controlPlane;
    const admin = httpsTransport({ server: url, ca, clock, credentials: () => ({ certificate: { cert, key } }) });
    t.after(() => admin.close());
    const client = createClient(admin, { clock });
    for (const definition of [...definitions, ...coreDefinitions()])
      await client.create(customResourceDefinitions, definition);
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    await client.create(serviceAccounts, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name, namespace },
    });
    await grant(client);
    const { token } = await createSubresources(admin, { clock }).createToken({ namespace, name }, {});

    const transport = httpsTransport({
      server: url,
      ca,
      clock,
      credentials: () => ({ headers: { authorization: `Bearer ${token}` } }),
    });
    t.after(() => transport.close());
    const lines: string[] = [];
    const redactor = createRedactor();
    const provider = createProvider({
      options,
      transport,
      apiHost: 'real',
      ca,
      pool: oneMac(serverID).pool,
      hostWork: scriptedWork(),
      settings,
      clock,
      random: Math.random,
      log: createLogger({ write: (line) => lines.push(line), clock, level: 'info', redact: redactor }),
      redactor,
      identity: 'the only one',
      intervals: { hosts: { pollMs: 500 } },
    });
    const stopping = new AbortController();
    const running = provider.run(stopping.signal);
    t.after(async () => {
      stopping.abort();
      await running;
    });

    // Definitions are there before the server takes objects of them.
    await eventually(() => unlessGone(client.list(coreClusters('v1beta2'))));
    await eventually(() => unlessGone(client.list(externalControlPlane.resource)));
    await eventually(() => unlessGone(client.list(machine.resource)));
    await liveOnce({ client, serverID, eventually });

    const { body } = await provider.metrics.text();
    assert.doesNotMatch(
      body,
      /^rest_client_requests_total\{code="403"/m,
      lines.filter((line) => /forbidden/i.test(line)).join(''),
    );
  });
});
