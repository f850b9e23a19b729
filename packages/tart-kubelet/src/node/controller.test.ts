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

const writes = (stage: NodeHarness): string[] => stage.requests.filter((text) => !text.startsWith('GET'));

describe('the Node controller, with the permissions of its Node', () => {
  test('registers the Node in one write, and owns its Lease', () =>
    withNodeHarness(async (stage) => {
      const controller = stage.start();
      await controller.ready;
      const node = await stage.node();
      assert.equal(statusOf(node, 'Ready'), 'True');
      assert.equal(node?.spec?.providerID, 'scw-applesilicon://fr-par-1/1111');
      assert.ok(node?.spec?.taints?.some(({ key }) => key === 'tuist.dev/macos'));
      assert.equal(node?.metadata.annotations?.['tuist.dev/host-config-hash'], summaryOf({}));
      assert.equal(controller.node?.metadata.uid, node?.metadata.uid);
      await stage.passUntil('there is a Lease', async () => (await stage.lease()) !== undefined);
      const lease = await stage.lease();
      assert.equal(lease?.spec?.holderIdentity, 'mac-1');
      assert.equal(lease?.spec?.leaseDurationSeconds, 40);
      assert.deepEqual(
        lease?.metadata.ownerReferences?.map(({ uid }) => uid),
        [node?.metadata.uid],
      );
      assert.equal(stage.requests.filter((text) => text === 'POST /api/v1/nodes').length, 1);
      assert.deepEqual(
        stage.lines.filter((line) => line.includes('forbidden')),
        [],
      );
    }));

  test('an idle Mac writes its Lease, its status every five minutes, and nothing else', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      await stage.pass(60_000, 1_000);
      stage.requests.length = 0;
      await stage.pass(300_000, 1_000);
      const count = (text: string): number => stage.requests.filter((each) => each === text).length;
      const renewals = count('PUT /apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/mac-1');
      assert.ok(renewals >= 29 && renewals <= 31, `${renewals} renewals`);
      assert.equal(count('PATCH /api/v1/nodes/mac-1/status'), 1);
      assert.ok(stage.requests.length <= 40, `${stage.requests.length} requests in five minutes`);
      assert.equal(count('PATCH /api/v1/nodes/mac-1'), 0);
    }));

  test('a Node that is deleted while the agent runs is registered again at once (INC-35)', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      const before = await stage.node();
      await stage.admin.delete(nodes, { name: 'mac-1' });
      await stage.passUntil('it is back', async () => (await stage.node()) !== undefined, 0);
      const after = await stage.node();
      assert.notEqual(after?.metadata.uid, before?.metadata.uid);
      assert.equal(after?.spec?.providerID, before?.spec?.providerID);
      await stage.passUntil('the Lease is that of the new Node', async () => {
        const owners = (await stage.lease())?.metadata.ownerReferences ?? [];
        return owners.length === 1 && owners[0]?.uid === after?.metadata.uid;
      });
    }));

  test('conditions that others set to Unknown are restored at once (INC-12)', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'no news' }];
      const body = { status: { conditions } };
      await stage.admin.patch(nodes, { name: 'mac-1' }, { type: 'strategic', body }, { subresource: 'status' });
      assert.equal(statusOf(await stage.node(), 'Ready'), 'Unknown');
      await stage.passUntil('it is Ready', async () => statusOf(await stage.node(), 'Ready') === 'True', 0);
    }));

  const sayUnknown = async (stage: NodeHarness): Promise<void> => {
    const conditions = [{ type: 'Ready', status: 'Unknown', reason: 'NodeStatusUnknown', message: 'no news' }];
    const body = { status: { conditions } };
    await stage.admin.patch(nodes, { name: 'mac-1' }, { type: 'strategic', body }, { subresource: 'status' });
    assert.equal(statusOf(await stage.node(), 'Ready'), 'Unknown');
  };
  const isReady = async (stage: NodeHarness): Promise<boolean> => statusOf(await stage.node(), 'Ready') === 'True';

  test('a write of others after our own is observed once the watch delivers it', () =>
    withNodeHarness(async (stage) => {
      const controller = stage.start();
      await controller.ready;
      await stage.pass(1_000);
      // The response to the write arrives first, the watch event later.
      const late = Promise.withResolvers<void>();
      stage.beforeWatchEvent = () => late.promise;
      stage.facts.guiSession = false;
      controller.trigger();
      await stage.passUntil('it is written', async () => statusOf(await stage.node(), 'GUISession') === 'False', 0);
      await stage.pass(10);
      stage.beforeWatchEvent = () => undefined;
      late.resolve();
      await stage.pass(10);
      await sayUnknown(stage);
      await stage.passUntil('it is Ready', () => isReady(stage), 0);
    }));

  test('a write of others before the response to our own is not overwritten by that response', () =>
    withNodeHarness(async (stage) => {
      const controller = stage.start();
      await controller.ready;
      await stage.pass(1_000);
      const late = Promise.withResolvers<void>();
      const done = Promise.withResolvers<void>();
      stage.afterRequest = (request) => {
        if (!request.startsWith('PATCH')) return undefined;
        done.resolve();
        return late.promise;
      };
      stage.facts.guiSession = false;
      controller.trigger();
      await done.promise;
      await sayUnknown(stage);
      await stage.pass(10);
      stage.afterRequest = () => undefined;
      late.resolve();
      await stage.passUntil('it is Ready', () => isReady(stage), 0);
    }));

  test('a write is not repeated while the watch lags behind its response', () =>
    withNodeHarness(async (stage) => {
      const controller = stage.start();
      await controller.ready;
      await stage.pass(1_000);
      const late = Promise.withResolvers<void>();
      stage.beforeWatchEvent = () => late.promise;
      stage.requests.length = 0;
      stage.facts.guiSession = false;
      controller.trigger();
      await stage.passUntil('it is written', async () => statusOf(await stage.node(), 'GUISession') === 'False', 0);
      await stage.pass(30_000, 5_000);
      assert.deepEqual(
        writes(stage).filter((text) => text.includes('/nodes/')),
        ['PATCH /api/v1/nodes/mac-1/status'],
      );
      stage.beforeWatchEvent = () => undefined;
      late.resolve();
    }));

  test('changing labels are written, and so is the status (INC-36)', () =>
    withNodeHarness(async (stage) => {
      const controller = stage.start();
      await controller.ready;
      stage.facts.labels = { 'tuist.dev/golden-ffff': 'true' };
      stage.facts.slots = { taken: 2, total: 2 };
      controller.trigger();
      await stage.passUntil('both are there', async () => {
        const node = await stage.node();
        return node?.metadata.labels?.['tuist.dev/golden-ffff'] === 'true' && statusOf(node, 'VMSlots') === 'False';
      });
      const node = await stage.node();
      assert.equal(node?.metadata.labels?.['tuist.dev/golden-0123456789abcdef'], undefined);
      assert.equal(node?.metadata.labels?.['tuist.dev/fleet'], 'runners');
    }));

  test('a provider id is filled in where there is none, and never overwritten (C9, INC-38)', () =>
    withNodeHarness(async (stage) => {
      await stage.start({ providerID: undefined }).ready;
      assert.equal((await stage.node())?.spec?.providerID, undefined);
      await stage.end();
      await stage.start({ providerID: 'first://1' }).ready;
      assert.equal((await stage.node())?.spec?.providerID, 'first://1');
      await stage.end();
      stage.requests.length = 0;
      await stage.start({ providerID: 'second://2' }).ready;
      assert.equal((await stage.node())?.spec?.providerID, 'first://1');
      assert.ok(stage.lines.some((line) => line.includes('provider id of another server')));
    }));

  test('cordons and taints of others are kept', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      const taints = [{ key: 'example.com/broken', effect: 'NoExecute' }];
      const body = { spec: { unschedulable: true, taints } };
      await stage.admin.patch(nodes, { name: 'mac-1' }, { type: 'merge', body });
      stage.facts.guiSession = false;
      await stage.passUntil('it has said so', async () => statusOf(await stage.node(), 'GUISession') === 'False');
      const { spec } = (await stage.node()) ?? {};
      assert.equal(spec?.unschedulable, true);
      assert.deepEqual(spec?.taints, taints);
      assert.ok(stage.lines.some((line) => line.includes('lacks the taint')));
    }));

  test('a new address replaces the old one', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      const old = { status: { addresses: [{ type: 'Hostname', address: 'old-name' }] } };
      await stage.admin.patch(nodes, { name: 'mac-1' }, { type: 'strategic', body: old }, { subresource: 'status' });
      stage.facts.address = '10.0.0.99';
      const addresses = async () => (await stage.node())?.status?.addresses?.map(({ address }) => address);
      await stage.passUntil('it is there', async () => (await addresses())?.includes('10.0.0.99') === true);
      assert.deepEqual(await addresses(), ['10.0.0.99']);
    }));

  test('the host config hash follows the stamps of the host steps', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      await writeFile(join(stage.stamps, 'power'), 'abc\n');
      const wanted = summaryOf({ power: 'abc' });
      const summary = async () => (await stage.node())?.metadata.annotations?.['tuist.dev/host-config-hash'];
      await stage.passUntil('it is published', async () => (await summary()) === wanted);
    }));

  test('a new stamp is published at once, without waiting for the next poll', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      await writeFile(join(stage.stamps, 'power'), 'abc\n');
      const wanted = summaryOf({ power: 'abc' });
      const summary = async () => (await stage.node())?.metadata.annotations?.['tuist.dev/host-config-hash'];
      await stage.passUntil('it is published', async () => (await summary()) === wanted, 0);
    }));

  test('a restarted agent writes the status before the host config hash', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      await stage.end();
      await writeFile(join(stage.stamps, 'agent-job'), 'def\n');
      delete stage.facts.tartVersion;
      stage.requests.length = 0;
      await stage.start({ kubeletVersion: 'v1.37.0' }).ready;
      const own = writes(stage).filter((text) => text.includes('/nodes/'));
      assert.deepEqual(own, ['PATCH /api/v1/nodes/mac-1/status', 'PATCH /api/v1/nodes/mac-1']);
      assert.equal((await stage.node())?.status?.nodeInfo?.kubeletVersion, 'v1.37.0');
      assert.equal(statusOf(await stage.node(), 'Ready'), 'False');
    }));

  test('a tart that hangs neither delays the Lease nor turns the Node Unknown (INC-12)', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      await stage.end();
      const hang = (): Promise<never> => new Promise(() => {});
      Object.assign(stage.host, { images: hang, slots: hang, labels: hang, runtime: hang, guestDisks: hang });
      stage.start();
      await stage.passUntil('there is a Lease', async () => (await stage.lease()) !== undefined);
      for (let second = 0; second < 120; second += 1) {
        await stage.pass(1_000);
        const renewed = Date.parse((await stage.lease())?.spec?.renewTime ?? '');
        assert.ok(stage.clock.now() - renewed <= 12_000, `not renewed for ${stage.clock.now() - renewed} ms`);
      }
      stage.facts.guiSession = false;
      await stage.passUntil('it reports', async () => statusOf(await stage.node(), 'GUISession') === 'False');
    }));

  test('a write to the Node that hangs does not delay the Lease (INC-12)', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      await stage.passUntil('there is a Lease', async () => (await stage.lease()) !== undefined);
      stage.intercept = (request) => (request.includes('/nodes/') ? new Promise(() => {}) : undefined);
      stage.facts.guiSession = false;
      for (let second = 0; second < 60; second += 1) {
        await stage.pass(1_000);
        const renewed = Date.parse((await stage.lease())?.spec?.renewTime ?? '');
        assert.ok(stage.clock.now() - renewed <= 12_000, `not renewed for ${stage.clock.now() - renewed} ms`);
      }
      stage.intercept = () => undefined;
    }));

  test('everything is written after an outage of the API server', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      stage.intercept = () => Promise.reject(new Error('away'));
      stage.facts.guiSession = false;
      await stage.pass(600_000, 5_000);
      stage.intercept = () => undefined;
      const before = stage.clock.now();
      await stage.passUntil('it knows', async () => statusOf(await stage.node(), 'GUISession') === 'False');
      assert.ok(stage.clock.now() - before <= 60_000);
    }));

  test('a crash after any write leads to the same Node', () =>
    withNodeHarness(async (stage) => {
      for (let crash = 1; crash <= 4; crash += 1) {
        let left = crash;
        stage.intercept = (request) => {
          if (request.startsWith('GET')) return undefined;
          left -= 1;
          return left < 0 ? new Promise(() => {}) : undefined;
        };
        stage.start();
        await stage.pass(3_000, 1_000);
        await stage.end();
      }
      stage.intercept = () => undefined;
      await stage.start().ready;
      const node = await stage.node();
      assert.equal(statusOf(node, 'Ready'), 'True');
      assert.equal(node?.metadata.annotations?.['tuist.dev/agent-version'], 'v0.1.0');
      assert.equal(stage.requests.filter((text) => text === 'POST /api/v1/nodes').length, 1);
    }));
});
