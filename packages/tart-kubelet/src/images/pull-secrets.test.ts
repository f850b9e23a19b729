import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeError } from '@tartan/kube';
import { type GuestHarness, withGuestHarness } from '../guest/testing/harness.ts';
import { parseReference } from './image-reference.ts';
import { createPullCredentials } from './pull-secrets.ts';

const image = parseReference('ghcr.io/example/macos:26') ?? assert.fail();
const never = new AbortController().signal;

describe('imagePullSecrets', () => {
  const holding = (harness: GuestHarness, name: string, username: string, host = 'ghcr.io') =>
    harness.secret(
      name,
      { '.dockerconfigjson': JSON.stringify({ auths: { [host]: { username, password: 'hush-hush' } } }) },
      'kubernetes.io/dockerconfigjson',
    );
  const found = async (harness: GuestHarness, ...names: string[]) => {
    const pod = await harness.pod((spec) => (spec.imagePullSecrets = names.map((name) => ({ name }))));
    return createPullCredentials(harness.node)(pod, image, never);
  };

  it('are read with the permissions of the Node, and matched to the image (INC-421)', () =>
    withGuestHarness(async (harness) => {
      await holding(harness, 'other', 'x', 'example.com');
      await holding(harness, 'one', 'somebody');
      assert.deepEqual(await found(harness, 'other', 'one', 'one'), {
        credentials: { host: 'ghcr.io', username: 'somebody', password: 'hush-hush' },
        problems: [],
      });
      assert.equal(harness.requests.length, 2);
    }));

  it('that are missing are reported, and the others are used', () =>
    withGuestHarness(async (harness) => {
      await holding(harness, 'one', 'somebody');
      const { credentials, problems } = await found(harness, 'gone', 'one', '');
      assert.equal(credentials?.username, 'somebody');
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', /^Secret gone of imagePullSecrets is not there; make it/);
    }));

  it('of another type are reported without their content', () =>
    withGuestHarness(async (harness) => {
      await harness.secret('odd', { password: 'hush-hush' });
      const { credentials, problems } = await found(harness, 'odd');
      assert.equal(credentials, undefined);
      assert.match(problems.join(), /^Secret odd holds no registry credentials/);
      assert.doesNotMatch(problems.join(), /hush/);
    }));

  it('may be empty', () =>
    withGuestHarness(async (harness) =>
      assert.deepEqual(await found(harness), { credentials: undefined, problems: [] }),
    ));

  it('reject when the API server fails', () =>
    withGuestHarness(async (harness) => {
      harness.intercept = () => {
        throw new KubeError('unreachable', 'no answer');
      };
      await assert.rejects(found(harness, 'one'), { reason: 'unreachable' });
    }));
});
