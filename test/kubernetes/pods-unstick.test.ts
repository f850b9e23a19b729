import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { type Clock, systemClock } from '@tartan/kube/clock';
import { createClient, httpsTransport, isKubeError, namespaces, pods, serviceAccounts } from '@tartan/kube';
import { testControlPlane } from '@tartan/tools-kubernetes';
import { unstick } from '../../packages/cli/src/pods/unstick.ts';

/** Makes every deletion look an hour old. */
const inAnHour: Clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };

describe('tartan pods unstick on a real Kubernetes', () => {
  test('removes Pods whose Node is deleted, with or without a grace period left', async (t) => {
    const real = await testControlPlane();
    const { url, caCertificate: ca, clientCertificate: cert, clientKey: key } = real;
    const credentials = () => ({ certificate: { cert, key } });
    const transport = httpsTransport({ server: url, ca, clock: systemClock, credentials });
    const client = createClient(transport, { clock: systemClock });
    const namespace = `unstick-${randomUUID().slice(0, 8)}`;
    await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
    t.after(async () => {
      await client.delete(namespaces, { name: namespace });
      transport.close();
      await real.stop();
    });
    // The controller manager may have created it already.
    await client
      .create(serviceAccounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'default', namespace } })
      .catch((error: unknown) => assert.ok(isKubeError(error, 'alreadyExists')));
    for (const [name, gracePeriodSeconds] of [
      ['at-once', 0],
      ['graceful', 30],
    ] as const) {
      await client.create(pods, {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, namespace, finalizers: ['tart-kubelet.tuist.dev/vm-cleanup'] },
        spec: { containers: [{ name: 'vm', image: 'macos' }], nodeName: `gone-${namespace}` },
      });
      await client.delete(pods, { name, namespace }, { gracePeriodSeconds });
    }
    const run = async (apply: boolean) => {
      const [stdout, stderr] = [new PassThrough(), new PassThrough()];
      const out = text(stdout);
      const { signal } = new AbortController();
      const options = { apply, output: 'table', namespace } as const;
      const code = await unstick(options, { client, clock: inAnHour }, { stdout, stderr }, signal);
      stdout.end();
      return { code, out: await out };
    };
    assert.match((await run(false)).out, /2 Pods would be released/);
    const done = await run(true);
    assert.equal(done.code, 0);
    assert.match(done.out, /2 Pods released\.\n$/);
    const held = (await client.list(pods, { namespace })).items.filter(({ metadata }) => metadata.finalizers?.length);
    assert.deepEqual(held, []);
    await assert.rejects(client.get(pods, { namespace, name: 'at-once' }), /not found/);
  });
});
