import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { checkPermissions } from './host-pool.ts';
import { type ScriptedScaleway, startScriptedScaleway } from './testing/scripted-scaleway.ts';
import { testPool } from './testing/test-pool.ts';

describe('checkPermissions', () => {
  let scaleway: ScriptedScaleway;
  before(async () => {
    scaleway = await startScriptedScaleway();
  });
  after(() => scaleway.stop());

  test('nothing is missing when everything can be read', async () => {
    scaleway.respondWith({ body: { servers: [], ssh_keys: [], total_count: 0 } });
    assert.deepEqual(await checkPermissions(testPool(scaleway.url), ['fr-par-1', 'fr-par-3']), []);
    assert.deepEqual(scaleway.received.map(({ path }) => path).sort(), [
      '/apple-silicon/v1alpha1/zones/fr-par-1/servers',
      '/apple-silicon/v1alpha1/zones/fr-par-3/servers',
      '/iam/v1alpha1/ssh-keys',
    ]);
  });

  test('each missing permission set is named', async () => {
    scaleway.respondWith({ status: 403, body: { type: 'permissions_denied', details: [] } });
    const missing = await checkPermissions(testPool(scaleway.url), ['fr-par-3']);
    assert.deepEqual(
      missing.map(({ kind, message }) => `${kind} ${/\w+FullAccess/.exec(message)?.[0]}`),
      ['denied AppleSiliconFullAccess', 'denied SSHKeysFullAccess'],
    );
  });

  test('an abort ends the check with its reason', async () => {
    const reason = new Error('we are stopping');
    await assert.rejects(
      checkPermissions(testPool(scaleway.url), ['fr-par-3'], { signal: AbortSignal.abort(reason) }),
      (error) => error === reason,
    );
  });
});
