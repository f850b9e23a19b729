import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { leases } from '@tartan/kube';
import { withNodeHarness } from './testing/harness.ts';

const name = { namespace: 'kube-node-lease', name: 'mac-1' };

describe('the Lease of the Node', () => {
  test('is recreated after a deletion', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      await stage.passUntil('it is there', async () => (await stage.lease()) !== undefined);
      await stage.admin.delete(leases, name);
      await stage.passUntil('it is back', async () => (await stage.lease()) !== undefined);
    }));

  test('is renewed after a conflicting write', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      await stage.passUntil('it is there', async () => (await stage.lease()) !== undefined);
      const body = { metadata: { annotations: { a: 'b' } } };
      await stage.admin.patch(leases, name, { type: 'merge', body });
      const before = (await stage.lease())?.spec?.renewTime;
      const began = stage.clock.now();
      await stage.passUntil('it is renewed', async () => (await stage.lease())?.spec?.renewTime !== before);
      assert.ok(stage.clock.now() - began <= 11_000);
      assert.deepEqual(
        stage.lines.filter((line) => line.includes('could not be renewed')),
        [],
      );
      assert.equal((await stage.lease())?.metadata.annotations?.['a'], 'b');
    }));

  test('is renewed by a restarted agent (INC-12)', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      await stage.passUntil('it is there', async () => (await stage.lease()) !== undefined);
      await stage.end();
      stage.clock.advance(3_600_000);
      const began = stage.clock.now();
      await stage.start().ready;
      await stage.passUntil('it is renewed', async () => {
        const renewed = Date.parse((await stage.lease())?.spec?.renewTime ?? '');
        return renewed >= began;
      });
    }));

  test('is retried every second after a failure, which is logged once', () =>
    withNodeHarness(async (stage) => {
      await stage.start().ready;
      await stage.passUntil('it is there', async () => (await stage.lease()) !== undefined);
      stage.intercept = (request) => (request.includes('/leases') ? Promise.reject(new Error('away')) : undefined);
      stage.requests.length = 0;
      await stage.pass(30_000, 1_000);
      const tries = stage.requests.filter((text) => text.includes('/leases')).length;
      assert.ok(tries >= 15 && tries <= 31, `${tries} tries`);
      assert.equal(stage.lines.filter((line) => line.includes('could not be renewed')).length, 1);
      stage.intercept = () => undefined;
      const before = (await stage.lease())?.spec?.renewTime;
      await stage.passUntil('it is renewed', async () => (await stage.lease())?.spec?.renewTime !== before);
    }));
});
