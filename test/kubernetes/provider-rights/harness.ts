import assert from 'node:assert/strict';
import { definitions } from '@tartan/api/crds';
import {
  bindClusterRole,
  type Client,
  configMaps,
  createClient,
  createLogger,
  createRedactor,
  createSubresources,
  customResourceDefinitions,
  deployments,
  grantPolicyRules,
  httpsTransport,
  namespaces,
  serviceAccounts,
  type Transport,
} from '@tartan/kube';
import { type Clock, sleep, systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { createProvider, joinBinding, type ProviderOptions, providerRights } from '@tartan/provider';
import { coreDefinitions } from '@tartan/sim-cluster-api';
import { untilServed } from '@tartan/sim-fleet';
import { startControlPlane } from '@tartan/tools-kubernetes';
import { fakeHostWork, hostSettingsWith } from '../../../packages/provider/src/machine/testing/fakes.ts';
import { namespace, optionsWith } from '../../../packages/provider/src/manager/testing/harness.ts';
import { oneMac } from '../../../packages/provider/src/manager/testing/one-mac.ts';
import { recordCalls } from '../../../packages/provider/src/manager/testing/rbac-calls.ts';

export const serverID = '6f1c0a52-0d7e-4a2b-8f43-3c2d1b0a9e87';
export const strayID = '0b9d3c44-5e1f-4c0a-9a77-1d2e3f405162';
const account = { name: 'manager', namespace };
export const spread = { name: 'processor', namespace: 'apps' };

/** All features of a manager that use Kubernetes, switched on. It finds the API server by itself. */
export const options: ProviderOptions = {
  ...optionsWith(
    `--fleet-spread-deployment=${spread.name}`,
    `--fleet-spread-namespace=${spread.namespace}`,
    '--orphan-reclaim-claim-name-prefix=tartan-',
    '--orphan-reclaim-interval=2s',
    '--inventory-interval=1s',
  ),
  apiServerURL: undefined,
};

/** Two Macs at Scaleway: one in the pool, and, once `stray` is set, one with a name of this cluster that no machine refers to. */
const twoMacs = () => {
  const [pooled, stray] = [oneMac(serverID), oneMac(strayID)];
  const harness = { stray: false };
  const of = (id: string) => (id === strayID && harness.stray ? stray.pool : pooled.pool);
  return {
    harness,
    pool: {
      ...pooled.pool,
      listServers: async (zone: string) => [
        ...(await pooled.pool.listServers(zone)),
        ...(harness.stray ? await stray.pool.listServers(zone) : []),
      ],
      getServer: (zone: string, id: string) => of(id).getServer(zone, id),
      rename: (zone: string, id: string, name: string) => of(id).rename(zone, id, name),
      reinstall: (zone: string, id: string, image?: string) => of(id).reinstall(zone, id, image),
      reboot: (zone: string, id: string) => of(id).reboot(zone, id),
    },
    loseStray: () => stray.pool.rename('fr-par-1', strayID, 'tartan-lost'),
  };
};

/** A cluster as the chart leaves it: Tartan's kinds and core's, and a manager's account with exactly the rights of its table. */
export const preparedCluster = async () => {
  // This plugin requires the rights that some clusters demand from clients that set owner references.
  const plugins = '--enable-admission-plugins=NodeRestriction,OwnerReferencesPermissionEnforcement';
  const plane = await startControlPlane({ controllerManager: true, apiServerFlags: [plugins] });
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
  const kinds = [...definitions, ...coreDefinitions()];
  for (const definition of kinds) await client.create(customResourceDefinitions, definition);
  await untilServed(client, kinds);
  for (const name of [namespace, spread.namespace])
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name } });
  await client.create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account });
  await grantPolicyRules(client.create, account.name, { account }, providerRights(options));
  await bindClusterRole(client.create, 'join', { group: joinBinding.group }, joinBinding.clusterRole);
  await makeClusterInfo(client, url);
  await makeDeployment(client);
  const { token } = await createSubresources(admin, { clock: systemClock }).createToken(account, {});
  const log = recordCalls(as({ token }));
  const scaleway = twoMacs();
  await scaleway.loseStray();

  const lines: string[] = [];
  /** The managers' log lines about missing rights. */
  const forbiddenLines = () => lines.filter((line) => /forbidden/i.test(line)).join('');
  /** A manager that rolls this agent to its Macs. */
  const startManager = (release: string, clock: Clock, change: Partial<ProviderOptions> = {}) => {
    const redactor = createRedactor();
    const work = fakeHostWork();
    const provider = createProvider({
      options: { ...options, ...change },
      transport: log.transport,
      apiHost: 'real',
      ca,
      pool: scaleway.pool,
      hostWork: work,
      settings: hostSettingsWith(release),
      clock,
      random: Math.random,
      log: createLogger({ write: (line) => lines.push(line), clock, level: 'info', redact: redactor }),
      redactor,
      identity: release,
      intervals: { hosts: { pollMs: 500 } },
    });
    const stopping = new AbortController();
    const running = provider.run(stopping.signal);
    return {
      provider,
      work,
      stop: async () => {
        stopping.abort();
        await running;
      },
    };
  };

  return {
    plane,
    client,
    as,
    calls: log.calls,
    scaleway: scaleway.harness,
    startManager,
    forbiddenLines,
    /** Waits for a result; but fails at the first refusal, which would prevent it forever. */
    eventually: <T>(look: () => Promise<T | undefined>, meanwhile?: () => void): Promise<T> =>
      eventually('what the manager does is seen', async () => {
        assert.equal(forbiddenLines(), '');
        const found = await look();
        if (found === undefined && meanwhile) {
          await sleep(systemClock, 100);
          meanwhile();
        }
        return found;
      }),
    close: async () => {
      for (const transport of opened) transport.close();
      await plane.stop();
    },
  };
};

export type PreparedCluster = Awaited<ReturnType<typeof preparedCluster>>;
export type RunningManager = ReturnType<PreparedCluster['startManager']>;

const makeClusterInfo = (client: Client, server: string) =>
  client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { namespace: 'kube-public', name: 'cluster-info' },
    data: {
      kubeconfig: JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters: [{ name: '', cluster: { server } }] }),
    },
  });

const makeDeployment = (client: Client) =>
  client.create(deployments, {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: spread,
    spec: {
      replicas: 0,
      selector: { matchLabels: { app: 'processor' } },
      template: {
        metadata: { labels: { app: 'processor' } },
        spec: { containers: [{ name: 'a', image: 'a' }] },
      },
    },
  });
