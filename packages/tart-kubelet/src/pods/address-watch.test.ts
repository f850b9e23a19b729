import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { systemClock } from '@tartan/kube/clock';
import type { Tart } from '@tartan/tart';
import { createAddressWatch } from './address-watch.ts';

describe('the address watch', { timeout: 60_000 }, () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'leases-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** A tart that knows no address before there is a lease, and responds with a delay, like the real one. */
  const setUp = () => {
    const dhcpLeases = join(folder, 'leases');
    let address: string | undefined;
    let questions = 0;
    let changes = 0;
    const found = Promise.withResolvers<void>();
    const tart: Pick<Tart, 'ip'> = {
      ip: async (_, { signal } = {}) => {
        questions += 1;
        if (address !== undefined) return address;
        // A query without an address lasts until it is aborted.
        return new Promise((resolve) => signal?.addEventListener('abort', () => resolve(undefined)));
      },
    };
    const watch = createAddressWatch({ tart, dhcpLeases, clock: systemClock }, () => {
      changes += 1;
      found.resolve();
    });
    return {
      watch,
      found: found.promise,
      questions: () => questions,
      changes: () => changes,
      lease: (text: string) => {
        address = text;
        writeFileSync(dhcpLeases, text);
      },
    };
  };

  it('queries tart again when the DHCP leases change while an earlier query is pending', async () => {
    const { found, lease, questions, watch } = setUp();
    watch.watch('vm');
    watch.watch('vm');
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(watch.get(), undefined);
    lease('192.168.64.2');
    await found;
    assert.equal(watch.get(), '192.168.64.2');
    const asked = questions();
    watch.watch('vm');
    assert.equal(questions(), asked, 'what is known is not asked for again');
    watch.reset();
  });

  it('discards the address and the pending query of a run that has ended', async () => {
    const { changes, found, lease, watch } = setUp();
    watch.watch('vm');
    watch.reset();
    lease('192.168.64.2');
    watch.watch('vm');
    await found;
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(changes(), 1, 'the ended run finds no address');
    watch.reset();
    assert.equal(watch.get(), undefined);
  });
});
