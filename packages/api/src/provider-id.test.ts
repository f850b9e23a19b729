import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { formatProviderID, parseProviderID } from './provider-id.ts';

describe('a providerID', () => {
  test('consists of zone and server ID', () => {
    assert.equal(formatProviderID({ zone: 'fr-par-1', serverID: '2f4b' }), 'scw-applesilicon://fr-par-1/2f4b');
  });

  test('can be parsed', () => {
    const part = fc.stringMatching(/^[a-z0-9-]{1,20}$/);
    fc.assert(
      fc.property(part, part, (zone, serverID) => {
        assert.deepEqual(parseProviderID(formatProviderID({ zone, serverID })), { zone, serverID });
      }),
    );
  });

  for (const foreign of [
    '',
    'scaleway://instance/fr-par-1/2f4b',
    'scw-applesilicon://fr-par-1',
    'scw-applesilicon://a/b/c',
    'x-scw-applesilicon://a/b',
  ]) {
    test(`of another provider is not parsed: "${foreign}"`, () => assert.equal(parseProviderID(foreign), undefined));
  }
});
