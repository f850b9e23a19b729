import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { labels, labelValues, macTaint, runnerPool, secretKeys } from '@tartan/api';
import {
  type Client,
  createClient,
  createLogger,
  createRedactor,
  createSubresources,
  httpsTransport,
  ignoreNotFound,
  namespaces,
  nodes,
  secrets,
  type Transport,
} from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { createRunnersManager, parseFlags } from '@tartan/runners';
import { startGitHub } from '@tartan/sim-github';
import { startControlPlane } from '@tartan/tools-kubernetes';
import { recordCalls } from '../../../packages/provider/src/manager/testing/rbac-calls.ts';
import { chart, run } from '../chart/helm.ts';
import { listOf } from '../chart/plane.ts';
import { argsOf, deploymentOf, namespace, render } from '../chart/render.ts';
import { runners } from '../chart/value-sets.ts';
import { runFakeGuests } from './guests.ts';

export { namespace } from '../chart/render.ts';
export const appSecret = 'github-app';
export const fleet = 'tartan-runners-fleet';
const component = 'runners-controller';

/** The rights from the chart of one release, and no others: the controller's account with its roles. */
const rolesOf = async (): Promise<readonly object[]> =>
  (await render(runners)).filter(
    ({ kind, metadata }) =>
      metadata.labels?.['app.kubernetes.io/component'] === component &&
      /^(ServiceAccount|(Cluster)?Role(Binding)?)$/.test(kind),
  );

/** A cluster as the chart leaves it for a runners controller, with an idle Mac, and GitHub. */
export const preparedCluster = async () => {
  // This plugin requires the rights that some clusters demand from clients that set owner references.
  const plugins = '--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement';
  const plane = await startControlPlane({
    controllerManager: true,
    scheduler: true,
    apiServerFlags: [plugins],
    // The Mac is simulated, and its lease is not renewed.
    controllerManagerFlags: ['--controllers=*,-node-lifecycle-controller'],
  });
  const { url, caCertificate: ca, clientCertificate: cert, clientKey: key } = plane;
  const opened: Transport[] = [];
  const as = (who: { token: string } | { cert: string; key: string }): Transport => {
    const credentials = () =>
      'token' in who ? { headers: { authorization: `Bearer ${who.token}` } } : { certificate: who };
    const transport = httpsTransport({ server: url, ca, clock: systemClock, credentials });
    opened.push(transport);
    return transport;
  };
  const admin = as({ cert, key });
  const client = createClient(admin, { clock: systemClock });
  const kubectl = async (args: readonly string[], input?: string): Promise<void> => {
    const { code, stderr } = await run(
      plane.binaries.kubectl,
      ['--kubeconfig', plane.adminKubeconfigPath, ...args],
      input,
    );
    assert.equal(code, 0, stderr);
  };
  await kubectl(['apply', '--server-side', '-f', `${chart}/crds/runnerpools.tuist.dev.yaml`]);
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await kubectl(['apply', '-f', '-'], listOf(await rolesOf()));
  await addMac(client);
  const github = await startGitHub();
  await addApp(client, github.app);
  const guests = runFakeGuests({ client, namespace, githubURL: github.url });
  const { metadata: account } = deploymentOf(await render(runners), component);
  const { token } = await createSubresources(admin, { clock: systemClock }).createToken(
    { namespace, name: account.name },
    {},
  );
  const log = recordCalls(as({ token }));
  const lines: string[] = [];
  /** The controller's log lines about missing rights. */
  const complaints = () => lines.filter((line) => /forbidden/i.test(line)).join('');
  const untilSeen = <T>(look: () => Promise<T | undefined>): Promise<T> =>
    eventually('what the controller does is seen', async () => {
      assert.equal(complaints(), '');
      await guests.look();
      return look();
    });
  // The server accepts objects a moment after their definition exists.
  await untilSeen(() => ignoreNotFound(client.list(runnerPool.resource)));

  const local = ['--metrics-bind-address=0', '--health-probe-bind-address=0', `--github-api-url=${github.url}`];
  const parsed = parseFlags([...argsOf(await render(runners), component), ...local], { POD_NAMESPACE: namespace });
  assert.ok('options' in parsed, JSON.stringify(parsed));
  const { options } = parsed;
  const redactor = createRedactor();
  const controller = createRunnersManager({
    options,
    transport: log.transport,
    apiHost: 'real',
    clock: systemClock,
    random: Math.random,
    randomBytes,
    log: createLogger({ write: (line) => lines.push(line), clock: systemClock, level: 'info', redact: redactor }),
    identity: 'the only one',
  });
  const stopping = new AbortController();
  const running = controller.run(stopping.signal);

  return {
    client,
    github,
    options,
    metrics: controller.metrics,
    calls: log.calls,
    lines,
    complaints,
    /** Waits for a result; but fails at the first refusal, which would prevent it forever. The Macs run meanwhile. */
    untilSeen,
    stopController: async () => {
      stopping.abort();
      await running;
    },
    close: async () => {
      stopping.abort();
      await running;
      await guests.stop();
      await github.stop();
      for (const transport of opened) transport.close();
      await plane.stop();
    },
  };
};

export type PreparedCluster = Awaited<ReturnType<typeof preparedCluster>>;

const addMac = async (client: Client): Promise<void> => {
  const name = 'mac-1';
  const { key, value, effect } = macTaint;
  const has = { [labels.runtime]: labelValues.runtime, [labels.os]: labelValues.os, [labels.fleet]: fleet };
  await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name, labels: has } });
  const size = { cpu: '64', memory: '256Gi', pods: '110' };
  const status = { allocatable: size, capacity: size, conditions: [{ type: 'Ready', status: 'True' }] };
  await client.patch(nodes, { name }, { type: 'merge', body: { status } }, { subresource: 'status' });
  // Without the taint of every new Node.
  await client.patch(nodes, { name }, { type: 'merge', body: { spec: { taints: [{ key, value, effect }] } } });
};

const addApp = (client: Client, { id, privateKey }: { id: number; privateKey: string }): Promise<unknown> => {
  const { appID, installationID, privateKey: ofKey } = secretKeys.githubApp;
  const data = { [appID]: String(id), [installationID]: String(installation), [ofKey]: privateKey };
  return client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name: appSecret },
    type: 'Opaque',
    data: Object.fromEntries(Object.entries(data).map(([name, text]) => [name, Buffer.from(text).toString('base64')])),
  });
};

/** Of the simulated GitHub's App in `acme`. */
const installation = 7001;
