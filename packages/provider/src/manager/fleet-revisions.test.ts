import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { secretKeys } from '@tartan/api';
import type { Live } from '@tartan/kube';
import type { SecretObject } from '../controller-deps.ts';
import { fleetRevision } from '../host-work/host-spec.ts';
import { withoutSecretValues } from '../host-work/secrets.ts';
import { exampleSettings } from '../host-work/testing/example-settings.ts';
import { createFleetRevisions } from './fleet-revisions.ts';

describe('the revision of a fleet', () => {
  let secret: Live<SecretObject> | undefined;
  const write = (resourceVersion: string, value: string): void => {
    const metadata = { name: 'tailscale', namespace: 'tartan', uid: 'u', resourceVersion, creationTimestamp: '' };
    const data = { [secretKeys.tailscale.authKey]: Buffer.from(value).toString('base64') };
    secret = withoutSecretValues({ apiVersion: 'v1', kind: 'Secret', metadata, data });
  };
  const tailscaleSecrets = {
    get: (key: string) => (key === 'tartan/tailscale' ? secret : undefined),
    list: () => [],
    subscribe: () => () => {},
  };
  const revisionWith = (tailscaleKeyVersion: string | undefined): string =>
    fleetRevision(exampleSettings, { fleet: 'runners', tailscaleKeyVersion });

  it('follows the key of the tailnet in the watched Secret', async () => {
    const revisionOf = createFleetRevisions({ tailscaleSecrets }, exampleSettings, 'tartan');
    assert.equal(await revisionOf('runners'), revisionWith(undefined), 'there is no Secret yet');
    write('7', 'tskey');
    assert.equal(await revisionOf('runners'), revisionWith('7'));
    write('8', 'tskey-2');
    assert.equal(await revisionOf('runners'), revisionWith('8'));
    assert.notEqual(await revisionOf('builders'), revisionWith('8'), 'another fleet');
    write('9', '');
    assert.equal(await revisionOf('runners'), revisionWith(undefined), 'an empty key is none');
  });

  it('needs no Secret without a tailnet', async () => {
    const settings = { ...exampleSettings, tailscale: undefined, nodeExporter: undefined };
    assert.equal(
      await createFleetRevisions({}, settings, 'tartan')('runners'),
      fleetRevision(settings, { fleet: 'runners', tailscaleKeyVersion: undefined }),
    );
  });
});
