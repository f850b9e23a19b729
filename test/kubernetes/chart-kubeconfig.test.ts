import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { secretKeys } from '@tartan/api';
import {
  type Client,
  type Condition,
  createClient,
  createLogger,
  createRedactor,
  createSubresources,
  defineResource,
  getCondition,
  httpsTransport,
  isKubeError,
  type KubeObject,
  secrets,
} from '@tartan/kube';
import { systemClock as clock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { createProvider, parseFlags } from '@tartan/provider';
import { apiRequest, type ControlPlane, formatKubeconfig } from '@tartan/tools-kubernetes';
import { quietPool, settings } from '../../packages/provider/src/manager/testing/harness.ts';
import { externalSecrets, runFakeExternalSecrets, type Store } from './chart/external-secrets.ts';
import { chart } from './chart/helm.ts';
import { type ChartPlane, startChartPlane } from './chart/plane.ts';
import { argsOf, namespace, render } from './chart/render.ts';

interface Cluster extends KubeObject {
  status?: { conditions?: Condition[] };
}
const clusters = defineResource<Cluster>({
  group: 'cluster.x-k8s.io',
  version: 'v1beta2',
  kind: 'Cluster',
  plural: 'clusters',
  namespaced: true,
});

describe('the kubeconfig of Cluster API core during any helm operation', () => {
  let harness: ChartPlane;
  let plane: ControlPlane;
  let client: Client;
  const ending: (() => void | Promise<void>)[] = [];
  const store: Store = {};

  const minted = () => ({ crds: { upgrade: false }, capi: { server: plane.url } });
  const provided = () => ({
    ...minted(),
    capi: { server: plane.url, remoteKubeconfig: { externalSecrets: { enabled: true } } },
  });
  const upgrade = async (values: object): Promise<void> => {
    const { code, stderr } = await harness.helm(['upgrade', '--install', 'tartan', chart, '--skip-crds'], values);
    assert.equal(code, 0, stderr);
  };

  /** The provider as in the chart: with its arguments, and the rights of its account. */
  const startManager = async (): Promise<void> => {
    const { url: server, caCertificate: ca } = plane;
    const local = ['--metrics-bind-address=0', '--health-probe-bind-address=0', '--leader-elect=false'];
    const parsed = parseFlags([...argsOf(await render(minted())), ...local], { POD_NAMESPACE: namespace });
    assert.ok('options' in parsed, JSON.stringify(parsed));
    const admin = adminTransport();
    const account = { namespace, name: 'tartan-provider' };
    const { token } = await createSubresources(admin, { clock }).createToken(account, {});
    const transport = httpsTransport({
      server,
      ca,
      clock,
      credentials: () => ({ headers: { authorization: `Bearer ${token}` } }),
    });
    const redactor = createRedactor();
    const provider = createProvider({
      options: parsed.options,
      transport,
      apiHost: 'real',
      ca,
      pool: quietPool(),
      settings,
      clock,
      random: Math.random,
      log: createLogger({ write: () => {}, clock, level: 'error', redact: redactor }),
      redactor,
      identity: 'the only one',
    });
    const stopping = new AbortController();
    const running = provider.run(stopping.signal);
    ending.push(async () => {
      stopping.abort();
      await running;
      transport.close();
      admin.close();
    });
  };
  const adminTransport = () => {
    const { url: server, caCertificate: ca, clientCertificate: cert, clientKey: key } = plane;
    return httpsTransport({ server, ca, clock, credentials: () => ({ certificate: { cert, key } }) });
  };

  before(async () => {
    harness = await startChartPlane();
    ({ plane } = harness);
    const admin = adminTransport();
    client = createClient(admin, { clock });
    ending.push(() => admin.close());
    const operator = runFakeExternalSecrets(client, namespace, store);
    ending.push(() => operator.stop());
  });
  after(async () => {
    for (const end of ending.toReversed()) await end();
    await harness.stop();
  });

  const name = 'tartan-capi-kubeconfig';
  const kubeconfig = () => client.get(secrets, { namespace, name });
  const content = async (): Promise<string> =>
    Buffer.from((await kubeconfig()).data?.[secretKeys.kubeconfig] ?? '', 'base64').toString();
  const hasExternalSecret = async (): Promise<boolean> =>
    (await client.list(externalSecrets, { namespace })).items.length > 0;

  /** Core can connect with the current kubeconfig, and reports so. */
  const works = async (): Promise<void> => {
    const token =
      /"token": "([^"]+)"|token: "?([^\s"]+)/
        .exec(await content())
        ?.slice(1)
        .find(Boolean) ?? '';
    const { url, caCertificate } = plane;
    const { status } = await apiRequest({ url, caCertificate, token }, '/');
    assert.equal(status, 200);
    await eventually('that core is connected', async () => {
      const { status: said } = await client.get(clusters, { namespace, name: 'tartan-capi' });
      return getCondition(said?.conditions, 'RemoteConnectionProbe')?.status === 'True';
    });
  };
  const from = async (): Promise<'provider' | 'store'> =>
    (await content()) === store['capi-workload-kubeconfig']?.['kubeconfig'] ? 'store' : 'provider';

  test('always exists, and works', async () => {
    await upgrade(minted());
    await startManager();
    await eventually('a kubeconfig', async () => {
      try {
        await kubeconfig();
        return true;
      } catch (error) {
        if (isKubeError(error, 'notFound')) return false;
        throw error;
      }
    });
    await works();
    const { uid } = (await kubeconfig()).metadata;
    // Never deleted and created again: the UID would differ.
    const sameAsEver = async (): Promise<void> => {
      await works();
      assert.equal((await kubeconfig()).metadata.uid, uid);
    };

    // To a store that is still empty: the provider continues.
    await upgrade(provided());
    assert.ok(await hasExternalSecret());
    await sameAsEver();
    assert.equal(await from(), 'provider');

    // A user creates a kubeconfig with the token, once, and puts it into the store.
    const { data = {} } = await client.get(secrets, { namespace, name: 'capi-remote-token' });
    const token = Buffer.from(data['token'] ?? '', 'base64').toString();
    const { url, caCertificate } = plane;
    store['capi-workload-kubeconfig'] = { kubeconfig: formatKubeconfig({ url, caCertificate, token }) };
    await eventually('the kubeconfig of the store', async () => (await from()) === 'store');
    await eventually('that nobody owns it', async () => !(await kubeconfig()).metadata.ownerReferences?.length);
    await sameAsEver();

    // The next upgrade deletes the hook and creates another.
    await upgrade({ ...provided(), provider: { logLevel: 'debug' } });
    await sameAsEver();
    assert.equal(await from(), 'store');

    // An upgrade that fails, and that helm itself rolls back.
    const broken = { ...provided(), provider: { extraEnv: [{ wrong: 'field' }] } };
    // Helm waits for the rolled-back release, and no kubelet runs Pods here.
    const args = ['upgrade', 'tartan', chart, '--skip-crds', '--rollback-on-failure', '--timeout=3s'];
    const failed = await harness.helm(args, broken);
    assert.notEqual(failed.code, 0);
    assert.match(failed.stderr, /roll(ing|ed) back/);
    await sameAsEver();
    assert.equal(await from(), 'store');

    // Back to the first revision: the provider takes the Secret over, and no other writer competes.
    const back = await harness.helm(['rollback', 'tartan', '1']);
    assert.equal(back.code, 0, back.stderr);
    await eventually('the kubeconfig of the provider', async () => (await from()) === 'provider');
    assert.equal(await hasExternalSecret(), false);
    await sameAsEver();
    await client.get(secrets, { namespace, name: 'capi-remote-token' });

    // And again to a revision with the store, by another rollback.
    const forth = await harness.helm(['rollback', 'tartan', '3']);
    assert.equal(forth.code, 0, forth.stderr);
    await eventually('the kubeconfig of the store again', async () => (await from()) === 'store');
    await sameAsEver();

    // An upgrade that switches the store off.
    await upgrade(minted());
    await eventually('the kubeconfig of the provider again', async () => (await from()) === 'provider');
    assert.equal(await hasExternalSecret(), false);
    await sameAsEver();
  });
});
