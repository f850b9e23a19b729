import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { summaryOf } from '@tartan/host';
import { nodes } from '@tartan/kube';
import type { Node } from './observe.ts';
import { type NodeHarness, withNodeHarness } from './testing/harness.ts';

const statusOf = (node: Node | undefined, type: string): string | undefined =>
  node?.status?.conditions?.find((each) => each.type === type)?.status;

const writes = (harness: NodeHarness): string[] => harness.requests.filter((text) => !text.startsWith('GET'));

describe('the Node controller, with the permissions of its Node', () => {
  test('registers the Node in one write, and owns its Lease', () =>
    withNodeHarness(async (harness) => {
      const controller = harness.start();
      await controller.ready;
      const node = await harness.node();
      assert.equal(statusOf(node, 'Ready'), 'True');
      assert.equal(node?.spec?.providerID, 'scw-applesilicon://fr-par-1/1111');
      assert.ok(node?.spec?.taints?.some(({ key }) => key === 'tuist.dev/macos'));
      assert.equal(node?.metadata.annotations?.['tuist.dev/host-config-hash'], summaryOf({}));
      assert.equal(controller.node?.metadata.uid, node?.metadata.uid);
      await harness.passUntil('there is a Lease', async () => (await harness.lease()) !== undefined);
      const lease = await harness.lease();
      assert.equal(lease?.spec?.holderIdentity, 'mac-1');
      assert.equal(lease?.spec?.leaseDurationSeconds, 40);
      assert.deepEqual(
        lease?.metadata.ownerReferences?.map(({ uid }) => uid),
        [node?.metadata.uid],
      );
      assert.equal(harness.requests.filter((text) => text === 'POST /api/v1/nodes').length, 1);
      assert.deepEqual(
        harness.lines.filter((line) => line.includes('forbidden')),
        [],
      );
    }));

  test('an idle Mac writes its Lease, its status every five minutes, and nothing else', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      await harness.pass(60_000, 1_000);
      harness.requests.length = 0;
      await harness.pass(300_000, 1_000);
      const count = (text: string): number => harness.requests.filter((each) => each === text).length;
      const renewals = count('PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/mac-1');
      assert.ok(renewals >= 29 && renewals <= 31, `${renewals} renewals`);
      assert.equal(count('PATCH /api/v1/nodes/mac-1/status'), 1);
      assert.ok(harness.requests.length <= 40, `${harness.requests.length} requests in five minutes`);
      assert.equal(count('PATCH /api/v1/nodes/mac-1'), 0);
    }));

  test('a Node that is deleted while the agent runs is registered again at once (INC-35)', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      const before = await harness.node();
      await harness.admin.delete(nodes, { name: 'mac-1' });
      await harness.passUntil('it is back', async () => (await harness.node()) !== undefined, 0);
      const after = await harness.node();
      assert.notEqual(after?.metadata.uid, before?.metadata.uid);
      assert.equal(after?.spec?.providerID, before?.spec?.providerID);
      await harness.passUntil('the Lease is that of the new Node', async () => {
        const owners = (await harness.lease())?.metadata.ownerReferences ?? [];
        return owners.length === 1 && owners[0]?.uid === after?.metadata.uid;
      });
    }));

  test('conditions that others set to Unknown are restored at once (INC-12)', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'no news' }];
      const body = { status: { conditions } };
      await harness.admin.patch(nodes, { name: 'mac-1' }, { type: 'strategic', body }, { subresource: 'status' });
      assert.equal(statusOf(await harness.node(), 'Ready'), 'Unknown');
      await harness.passUntil('it is Ready', async () => statusOf(await harness.node(), 'Ready') === 'True', 0);
    }));

  const sayUnknown = async (harness: NodeHarness): Promise<void> => {
    const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'no news' }];
    const body = { status: { conditions } };
    await harness.admin.patch(nodes, { name: 'mac-1' }, { type: 'strategic', body }, { subresource: 'status' });
    assert.equal(statusOf(await harness.node(), 'Ready'), 'Unknown');
  };
  const isReady = async (harness: NodeHarness): Promise<boolean> => statusOf(await harness.node(), 'Ready') === 'True';

  test('a write of others after our own is observed once the watch delivers it', () =>
    withNodeHarness(async (harness) => {
      const controller = harness.start();
      await controller.ready;
      await harness.pass(1_000);
      // The response to the write arrives first, the watch event later.
      const late = Promise.withResolvers<void>();
      harness.beforeWatchEvent = () => late.promise;
      harness.facts.guiSession = false;
      controller.trigger();
      await harness.passUntil('it is written', async () => statusOf(await harness.node(), 'GUISession') === 'False', 0);
      await harness.pass(10);
      harness.beforeWatchEvent = () => undefined;
      late.resolve();
      await harness.pass(10);
      await sayUnknown(harness);
      await harness.passUntil('it is Ready', () => isReady(harness), 0);
    }));

  test('a write of others before the response to our own is not overwritten by that response', () =>
    withNodeHarness(async (harness) => {
      const controller = harness.start();
      await controller.ready;
      await harness.pass(1_000);
      const late = Promise.withResolvers<void>();
      const done = Promise.withResolvers<void>();
      harness.afterRequest = (request) => {
        if (!request.startsWith('PATCH')) return undefined;
        done.resolve();
        return late.promise;
      };
      harness.facts.guiSession = false;
      controller.trigger();
      await done.promise;
      await sayUnknown(harness);
      await harness.pass(10);
      harness.afterRequest = () => undefined;
      late.resolve();
      await harness.passUntil('it is Ready', () => isReady(harness), 0);
    }));

  test('a write is not repeated while the watch lags behind its response', () =>
    withNodeHarness(async (harness) => {
      const controller = harness.start();
      await controller.ready;
      await harness.pass(1_000);
      const late = Promise.withResolvers<void>();
      harness.beforeWatchEvent = () => late.promise;
      harness.requests.length = 0;
      harness.facts.guiSession = false;
      controller.trigger();
      await harness.passUntil('it is written', async () => statusOf(await harness.node(), 'GUISession') === 'False', 0);
      await harness.pass(30_000, 5_000);
      assert.deepEqual(
        writes(harness).filter((text) => text.includes('/nodes/')),
        ['PATCH /api/v1/nodes/mac-1/status'],
      );
      harness.beforeWatchEvent = () => undefined;
      late.resolve();
    }));

  test('changing labels are written, and so is the status (INC-36)', () =>
    withNodeHarness(async (harness) => {
      const controller = harness.start();
      await controller.ready;
      harness.facts.labels = { 'tuist.dev/golden-ffff': 'true' };
      harness.facts.slots = { taken: 2, total: 2 };
      controller.trigger();
      await harness.passUntil('both are there', async () => {
        const node = await harness.node();
        return node?.metadata.labels?.['tuist.dev/golden-ffff'] === 'true' && statusOf(node, 'VMSlots') === 'False';
      });
      const node = await harness.node();
      assert.equal(node?.metadata.labels?.['tuist.dev/golden-0123456789abcdef'], undefined);
      assert.equal(node?.metadata.labels?.['tuist.dev/fleet'], 'runners');
    }));

  test('a provider id is filled in where there is none, and never overwritten (C9, INC-38)', () =>
    withNodeHarness(async (harness) => {
      await harness.start({ providerID: undefined }).ready;
      assert.equal((await harness.node())?.spec?.providerID, undefined);
      await harness.end();
      await harness.start({ providerID: 'first://1' }).ready;
      assert.equal((await harness.node())?.spec?.providerID, 'first://1');
      await harness.end();
      harness.requests.length = 0;
      await harness.start({ providerID: 'second://2' }).ready;
      assert.equal((await harness.node())?.spec?.providerID, 'first://1');
      assert.ok(harness.lines.some((line) => line.includes('provider id of another server')));
    }));

  test('cordons and taints of others are kept', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      const taints = [{ key: 'example.com/broken', effect: 'NoExecute' }];
      const body = { spec: { unschedulable: true, taints } };
      await harness.admin.patch(nodes, { name: 'mac-1' }, { type: 'merge', body });
      harness.facts.guiSession = false;
      await harness.passUntil('it has said so', async () => statusOf(await harness.node(), 'GUISession') === 'False');
      const { spec } = (await harness.node()) ?? {};
      assert.equal(spec?.unschedulable, true);
      assert.deepEqual(spec?.taints, taints);
      assert.ok(harness.lines.some((line) => line.includes('lacks the taint')));
    }));

  test('a new address replaces the old one', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      const old = { status: { addresses: [{ type: 'Hostname', address: 'old-name' }] } };
      await harness.admin.patch(nodes, { name: 'mac-1' }, { type: 'strategic', body: old }, { subresource: 'status' });
      harness.facts.address = '10.0.0.99';
      const addresses = async () => (await harness.node())?.status?.addresses?.map(({ address }) => address);
      await harness.passUntil('it is there', async () => (await addresses())?.includes('10.0.0.99') === true);
      assert.deepEqual(await addresses(), ['10.0.0.99']);
    }));

  test('the host config hash follows the stamps of the host steps', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      await writeFile(join(harness.stamps, 'power'), 'abc\n');
      const wanted = summaryOf({ power: 'abc' });
      const summary = async () => (await harness.node())?.metadata.annotations?.['tuist.dev/host-config-hash'];
      await harness.passUntil('it is published', async () => (await summary()) === wanted);
    }));

  test('a new stamp is published at once, without waiting for the next poll', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      await writeFile(join(harness.stamps, 'power'), 'abc\n');
      const wanted = summaryOf({ power: 'abc' });
      const summary = async () => (await harness.node())?.metadata.annotations?.['tuist.dev/host-config-hash'];
      await harness.passUntil('it is published', async () => (await summary()) === wanted, 0);
    }));

  test('a restarted agent writes the status before the host config hash', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      await harness.end();
      await writeFile(join(harness.stamps, 'agent-job'), 'def\n');
      delete harness.facts.tartVersion;
      harness.requests.length = 0;
      await harness.start({ kubeletVersion: 'v1.37.0' }).ready;
      const own = writes(harness).filter((text) => text.includes('/nodes/'));
      assert.deepEqual(own, ['PATCH /api/v1/nodes/mac-1/status', 'PATCH /api/v1/nodes/mac-1']);
      assert.equal((await harness.node())?.status?.nodeInfo?.kubeletVersion, 'v1.37.0');
      assert.equal(statusOf(await harness.node(), 'Ready'), 'False');
    }));

  test('a tart that hangs neither delays the Lease nor turns the Node Unknown (INC-12)', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      await harness.end();
      const hang = (): Promise<never> => new Promise(() => {});
      Object.assign(harness.host, { images: hang, slots: hang, labels: hang, runtime: hang, guestDisks: hang });
      harness.start();
      await harness.passUntil('there is a Lease', async () => (await harness.lease()) !== undefined);
      for (let second = 0; second < 120; second += 1) {
        await harness.pass(1_000);
        const renewed = Date.parse((await harness.lease())?.spec?.renewTime ?? '');
        assert.ok(harness.clock.now() - renewed <= 12_000, `not renewed for ${harness.clock.now() - renewed} ms`);
      }
      harness.facts.guiSession = false;
      await harness.passUntil('it reports', async () => statusOf(await harness.node(), 'GUISession') === 'False');
    }));

  test('a write to the Node that hangs does not delay the Lease (INC-12)', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      await harness.passUntil('there is a Lease', async () => (await harness.lease()) !== undefined);
      harness.intercept = (request) => (request.includes('/nodes/') ? new Promise(() => {}) : undefined);
      harness.facts.guiSession = false;
      for (let second = 0; second < 60; second += 1) {
        await harness.pass(1_000);
        const renewed = Date.parse((await harness.lease())?.spec?.renewTime ?? '');
        assert.ok(harness.clock.now() - renewed <= 12_000, `not renewed for ${harness.clock.now() - renewed} ms`);
      }
      harness.intercept = () => undefined;
    }));

  test('everything is written after an outage of the API server', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      harness.intercept = () => Promise.reject(new Error('away'));
      harness.facts.guiSession = false;
      await harness.pass(600_000, 5_000);
      harness.intercept = () => undefined;
      const before = harness.clock.now();
      await harness.passUntil('it knows', async () => statusOf(await harness.node(), 'GUISession') === 'False');
      assert.ok(harness.clock.now() - before <= 60_000);
    }));

  test('a crash after any write leads to the same Node', () =>
    withNodeHarness(async (harness) => {
      for (let crash = 1; crash <= 4; crash += 1) {
        let left = crash;
        harness.intercept = (request) => {
          if (request.startsWith('GET')) return undefined;
          left -= 1;
          return left < 0 ? new Promise(() => {}) : undefined;
        };
        harness.start();
        await harness.pass(3_000, 1_000);
        await harness.end();
      }
      harness.intercept = () => undefined;
      await harness.start().ready;
      const node = await harness.node();
      assert.equal(statusOf(node, 'Ready'), 'True');
      assert.equal(node?.metadata.annotations?.['tuist.dev/agent-version'], 'v0.1.0');
      assert.equal(harness.requests.filter((text) => text === 'POST /api/v1/nodes').length, 1);
    }));
});
