import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError, pods } from '@tartan/kube';
import { setUpCluster, vmCleanup } from './testing/fixtures.ts';

const hour = 3_600_000;
const incident = 504;

describe('tartan pods unstick', () => {
  test('without --apply it prints the plan and changes nothing', async (t) => {
    const harness = await setUpCluster(t);
    await harness.addNode('mac-alive');
    await harness.addNode('mac-silent', false);
    await harness.addPod('of-a-lost-mac', 'mac-lost');
    await harness.addPod('of-no-mac', undefined);
    await harness.addPod('of-a-live-mac', 'mac-alive');
    await harness.addPod('of-a-silent-mac', 'mac-silent');
    await harness.addPod('at-work', 'mac-lost', { deleted: false });
    await harness.addPod('held-by-others', 'mac-lost', { finalizers: ['example.com/theirs'] });
    harness.clock.advance(3 * hour);
    await harness.addPod('just-deleted', 'mac-lost');
    const { code, out } = await harness.run();
    assert.equal(code, 1);
    const lines = out.split('\n');
    assert.match(lines[0] ?? '', /^NAMESPACE +NAME +NODE +TERMINATING +WHAT +WHY$/);
    const rows: [string, RegExp][] = [
      ['of-a-lost-mac', /^runners +of-a-lost-mac +mac-lost +3h +would release +its Node is gone$/],
      ['of-no-mac', /<none> +3h +would release +it never had a Node$/],
      ['of-a-live-mac', /left +its Node exists: the agent removes the VM and releases the Pod$/],
      ['of-a-silent-mac', /left +its Node exists but is not Ready: .* delete its Machine$/],
      ['just-deleted', /0s +left +its grace period ended less than 5 minutes ago; wait 300 s$/],
    ];
    for (const [name, row] of rows) assert.match(lines.find((line) => line.includes(` ${name} `)) ?? '', row);
    assert.ok(!/at-work|held-by-others/.test(out), 'not stuck, or not ours');
    assert.match(
      out,
      /\n2 Pods would be released, 3 Pods left alone\. Nothing was changed\. --apply releases them\.\n$/,
    );
    assert.ok(harness.calls.every((call) => call.startsWith('GET ')));
    for (const name of ['of-a-lost-mac', 'of-no-mac']) assert.deepEqual(await harness.finalizersOf(name), [vmCleanup]);
  });

  test('releases 504 Pods of lost Macs in one run, and shows the progress (INC-17, INC-71)', async (t) => {
    const harness = await setUpCluster(t);
    for (let index = 0; index < incident; index += 1) await harness.addPod(`runner-${index}`, `mac-${index % 4}`);
    await harness.addNode('mac-alive');
    await harness.addPod('of-a-live-mac', 'mac-alive');
    harness.clock.advance(hour);
    const { code, out, err } = await harness.run({ apply: true });
    assert.equal(code, 0);
    assert.match(out, /\n504 Pods released, 1 Pod left alone\.\n$/);
    assert.equal(err.split('\n').length - 1, 9, 'a line for every 51');
    assert.match(err, /^51 of 504 Pods\n/);
    const { items } = await harness.admin.list(pods);
    assert.deepEqual(
      items.map(({ metadata }) => metadata.name),
      ['of-a-live-mac'],
    );
    assert.equal(harness.calls.filter((call) => call.startsWith('PATCH ')).length, incident);
    const looks = harness.calls.filter((call) => /^GET .*\/nodes\/mac-[0-3]$/.test(call));
    assert.equal(looks.length, 4 + incident, 'once for the list, and once right before each write');
    assert.equal((await harness.run()).code, 0, 'nothing is left to do');
  });

  test('a Node that comes back before the write keeps its Pods', async (t) => {
    const harness = await setUpCluster(t);
    await harness.addPod('vm', 'mac-1');
    harness.clock.advance(hour);
    let looks = 0;
    harness.interpose((send) => async (request) => {
      if (request.path.includes('/nodes/mac-1')) {
        looks += 1;
        if (looks === 2) await harness.addNode('mac-1');
      }
      return send(request);
    });
    const { code, out } = await harness.run({ apply: true });
    assert.equal(code, 0);
    assert.match(out, /left +its Node exists/);
    assert.deepEqual(await harness.finalizersOf('vm'), [vmCleanup]);
    assert.ok(!harness.calls.some((call) => call.startsWith('PATCH ')));
  });

  test('a conflict is retried; finalizers of others stay', async (t) => {
    const harness = await setUpCluster(t);
    await harness.addPod('vm', 'mac-1', { finalizers: ['example.com/theirs', vmCleanup] });
    harness.clock.advance(hour);
    let writes = 0;
    harness.interpose((send) => async (request) => {
      if (request.method === 'PATCH' && ++writes === 1) {
        const body = { metadata: { annotations: { written: 'meanwhile' } } };
        await harness.admin.patch(pods, { namespace: 'runners', name: 'vm' }, { type: 'merge', body });
      }
      return send(request);
    });
    const { code, out } = await harness.run({ apply: true });
    assert.equal(code, 0);
    assert.match(out, /released +its Node is gone; other finalizers remain: example\.com\/theirs\n/);
    assert.equal(writes, 2);
    assert.deepEqual(await harness.finalizersOf('vm'), ['example.com/theirs']);
  });

  test('after repeated conflicts the Pod fails and the exit code is 1', async (t) => {
    const harness = await setUpCluster(t);
    await harness.addPod('vm', 'mac-1');
    harness.clock.advance(hour);
    let writes = 0;
    harness.interpose((send) => async (request) => {
      if (request.method === 'PATCH') {
        const body = { metadata: { annotations: { written: String(++writes) } } };
        await harness.admin.patch(pods, { namespace: 'runners', name: 'vm' }, { type: 'merge', body });
      }
      return send(request);
    });
    const { code, out } = await harness.run({ apply: true });
    assert.equal(code, 1);
    assert.match(out, /failed +the Pod was changed 3 times meanwhile; run the command again/);
    assert.equal(writes, 3);
    assert.deepEqual(await harness.finalizersOf('vm'), [vmCleanup]);
  });

  test('a Pod that was replaced under the same name is not patched', async (t) => {
    const harness = await setUpCluster(t);
    await harness.addPod('vm', 'mac-1');
    harness.clock.advance(hour);
    let replaced = false;
    harness.interpose((send) => async (request) => {
      if (request.method === 'PATCH' && !replaced) {
        replaced = true;
        const body = { metadata: { finalizers: [] } };
        await harness.admin.patch(pods, { namespace: 'runners', name: 'vm' }, { type: 'merge', body });
        await harness.addPod('vm', 'mac-1', { deleted: false });
      }
      return send(request);
    });
    const { code, out } = await harness.run({ apply: true });
    assert.equal(code, 0);
    assert.match(out, /already gone/);
    assert.deepEqual(await harness.finalizersOf('vm'), [vmCleanup]);
  });

  test('--namespace and --selector limit the Pods', async (t) => {
    const harness = await setUpCluster(t);
    await harness.addNamespace('other');
    await harness.addPod('a', 'mac-1', { labels: { app: 'runner' } });
    await harness.addPod('b', 'mac-1');
    await harness.addPod('c', 'mac-1', { namespace: 'other', labels: { app: 'runner' } });
    harness.clock.advance(hour);
    const { code } = await harness.run({ apply: true, namespace: 'runners', selector: 'app=runner' });
    assert.equal(code, 0);
    assert.equal(await harness.finalizersOf('a'), undefined);
    assert.deepEqual(await harness.finalizersOf('b'), [vmCleanup]);
    assert.deepEqual(await harness.finalizersOf('c', 'other'), [vmCleanup]);
  });

  test('prints a sentence when no Pod is stuck', async (t) => {
    const harness = await setUpCluster(t);
    assert.deepEqual(await harness.run(), {
      code: 0,
      out: 'No Pod is stuck: none is Terminating and held by an agent.\n',
      err: '',
    });
  });

  test('prints JSON for scripts', async (t) => {
    const harness = await setUpCluster(t);
    await harness.addPod('vm', 'mac-1');
    harness.clock.advance(hour);
    const { out, code } = await harness.run({ output: 'json' });
    const { applied, counts, pods: reports } = JSON.parse(out);
    assert.equal(code, 1);
    assert.equal(applied, false);
    assert.deepEqual(counts, { 'would release': 1, released: 0, 'already gone': 0, left: 0, failed: 0 });
    const { uid, deletionTimestamp, ...rest } = reports[0];
    assert.ok(uid && deletionTimestamp);
    const why = 'its Node is gone';
    assert.deepEqual(rest, { namespace: 'runners', name: 'vm', node: 'mac-1', outcome: 'would release', why });
  });
});

describe('tartan pods unstick without permissions', () => {
  test('without list on Pods the error names the permission and --namespace', async (t) => {
    const harness = await setUpCluster(t, ({ namespace, resource }) => resource !== 'pods' || namespace === 'runners');
    await assert.rejects(
      harness.run(),
      /You may not list pods in all namespaces\. The missing permission is "list" on pods .*--namespace\.$/,
    );
    assert.equal((await harness.run({ namespace: 'runners' })).code, 0);
    await assert.rejects(
      harness.run({ namespace: 'other' }),
      /You may not list pods in the namespace other\. The missing permission is "list" on pods/,
    );
  });

  test('a Node that cannot be read does not count as gone', async (t) => {
    const harness = await setUpCluster(t, ({ resource }) => resource !== 'nodes');
    await harness.addPod('vm', 'mac-1');
    harness.clock.advance(hour);
    await assert.rejects(
      harness.run({ apply: true }),
      /You may not get the Node mac-1\. The decision about a Pod depends on its Node/,
    );
    assert.deepEqual(await harness.finalizersOf('vm'), [vmCleanup]);
  });

  test('a forbidden namespace is tried once; the others are processed', async (t) => {
    const harness = await setUpCluster(t, ({ namespace, verb }) => !(namespace === 'sealed' && verb === 'patch'));
    await harness.addNamespace('sealed');
    for (let index = 0; index < 20; index += 1) await harness.addPod(`s-${index}`, 'mac-1', { namespace: 'sealed' });
    await harness.addPod('vm', 'mac-1');
    harness.clock.advance(hour);
    const { code, out } = await harness.run({ apply: true });
    assert.equal(code, 1);
    assert.match(out, /s-7 .* failed +you may not get and patch Pods in the namespace sealed\n/);
    assert.match(out, /\n1 Pod released, 20 Pods failed\. Fix the cause, then run/);
    assert.equal(await harness.finalizersOf('vm'), undefined);
    assert.ok(harness.calls.filter((call) => call.startsWith('PATCH ')).length < 12);
  });
});

describe('tartan pods unstick when it is interrupted', () => {
  const setUp = async (t: Parameters<typeof setUpCluster>[0], after: () => void, failing: KubeError) => {
    const harness = await setUpCluster(t);
    for (let index = 0; index < 40; index += 1) await harness.addPod(`vm-${index}`, 'mac-1');
    harness.clock.advance(hour);
    let writes = 0;
    harness.interpose((send) => (request) => {
      if (request.method !== 'PATCH' || ++writes <= 10) return send(request);
      after();
      return Promise.reject(failing);
    });
    return harness;
  };

  test('by an unreachable server: prints what is done and what is left', async (t) => {
    const harness = await setUp(t, () => {}, new KubeError('unreachable', 'the connection was lost'));
    const { code, out } = await harness.run({ apply: true });
    assert.equal(code, 1);
    assert.match(out, /\n10 Pods released, 30 Pods failed\./);
    assert.match(out, /failed +the connection was lost\n/);
    assert.ok(
      harness.calls.filter((call) => call.startsWith('PATCH ')).length < 20,
      'it is not asked for each of them',
    );
    harness.interpose((send) => send);
    assert.match((await harness.run({ apply: true })).out, /\n30 Pods released\.\n$/);
  });

  test('by Ctrl-C: starts no further Pod', async (t) => {
    const stopping = new AbortController();
    const harness = await setUp(t, () => stopping.abort(), new KubeError('aborted', 'stopped'));
    const { out } = await harness.run({ apply: true }, stopping.signal);
    assert.match(out, /failed +stopped before\n/);
    assert.ok(harness.calls.filter((call) => call.startsWith('PATCH ')).length < 20, 'only what was under way');
  });

  test('on a terminal progress is one line that is cleared at the end', async (t) => {
    const harness = await setUp(t, () => {}, new KubeError('unreachable', 'lost'));
    const { err } = await harness.run({ apply: true }, undefined, true);
    assert.ok(
      err.startsWith('\r\u001B[K1 of 40 Pods\r\u001B[K2 of 40 Pods') && err.endsWith('40 of 40 Pods\r\u001B[K'),
    );
  });
});
