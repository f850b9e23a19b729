import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ManagerResult } from '@tartan/kube';
import { createVersions } from './versions.ts';

/** Providers that note what becomes of them, and end when told. */
const staged = () => {
  const told: string[] = [];
  const ends = new Map<string, (result: ManagerResult) => void>();
  const versions = createVersions(async (version) => {
    told.push(`${version} starts`);
    const { promise: ended, resolve } = Promise.withResolvers<ManagerResult>();
    ends.set(version, resolve);
    const stop = (): Promise<ManagerResult> => {
      told.push(`${version} stops`);
      resolve({ ok: true });
      return ended;
    };
    return { ended, stop };
  });
  return { told, ends, versions };
};

test('each provider takes the place of the one before, also when asked twice at once', async () => {
  const { told, versions } = staged();
  assert.deepEqual(await Promise.all([versions.next(), versions.next()]), ['0.1.0', '0.2.0']);
  await versions.stop();
  assert.deepEqual(told, ['0.1.0 starts', '0.1.0 stops', '0.2.0 starts', '0.2.0 stops']);
});

test('a provider that ends unasked is said, one that was replaced is not', async () => {
  const { ends, versions } = staged();
  await versions.next();
  await versions.next();
  ends.get('0.2.0')?.({ ok: false, reason: 'the lease was lost' });
  await assert.rejects(versions.broken, /the lease was lost/);
});
