import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { leases } from '@tartan/kube';
import { withNodeHarness } from './testing/harness.ts';

const name = { namespace: 'kube-node-lease', name: 'mac-1' };

describe('the Lease of the Node', () => {
  test('is recreated after a deletion', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      await harness.passUntil('it is there', async () => (await harness.lease()) !== undefined);
      await harness.admin.delete(leases, name);
      await harness.passUntil('it is back', async () => (await harness.lease()) !== undefined);
    }));

  test('is renewed after a conflicting write', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      await harness.passUntil('it is there', async () => (await harness.lease()) !== undefined);
      const body = { metadata: { annotations: { a: 'b' } } };
      await harness.admin.patch(leases, name, { type: 'merge', body });
      const before = (await harness.lease())?.spec?.renewTime;
      const began = harness.clock.now();
      await harness.passUntil('it is renewed', async () => (await harness.lease())?.spec?.renewTime !== before);
      assert.ok(harness.clock.now() - began <= 11_000);
      assert.deepEqual(
        harness.lines.filter((line) => line.includes('could not be renewed')),
        [],
      );
      assert.equal((await harness.lease())?.metadata.annotations?.['a'], 'b');
    }));

  test('is renewed by a restarted agent (INC-12)', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      await harness.passUntil('it is there', async () => (await harness.lease()) !== undefined);
      await harness.end();
      harness.clock.advance(3_600_000);
      const began = harness.clock.now();
      await harness.start().ready;
      await harness.passUntil('it is renewed', async () => {
        const renewed = Date.parse((await harness.lease())?.spec?.renewTime ?? '');
        return renewed >= began;
      });
    }));

  test('is retried every second after a failure, which is logged once', () =>
    withNodeHarness(async (harness) => {
      await harness.start().ready;
      await harness.passUntil('it is there', async () => (await harness.lease()) !== undefined);
      harness.intercept = (request) => (request.includes('/leases') ? Promise.reject(new Error('away')) : undefined);
      harness.requests.length = 0;
      await harness.pass(30_000, 1_000);
      const tries = harness.requests.filter((text) => text.includes('/leases')).length;
      assert.ok(tries >= 15 && tries <= 31, `${tries} tries`);
      assert.equal(harness.lines.filter((line) => line.includes('could not be renewed')).length, 1);
      harness.intercept = () => undefined;
      const before = (await harness.lease())?.spec?.renewTime;
      await harness.passUntil('it is renewed', async () => (await harness.lease())?.spec?.renewTime !== before);
    }));
});
