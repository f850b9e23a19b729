import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { KubeError } from '@tartan/kube';
import { type GuestHarness, withGuestHarness } from '../guest/testing/harness.ts';
import { parseReference } from './image-reference.ts';
import { createPullCredentials } from './pull-secrets.ts';

const image = parseReference('ghcr.io/example/macos:26') ?? assert.fail();
const never = new AbortController().signal;

describe('imagePullSecrets', () => {
  const holding = (stage: GuestHarness, name: string, username: string, host = 'ghcr.io') =>
    stage.secret(
      name,
      { '.dockerconfigjson': JSON.stringify({ auths: { [host]: { username, password: 'hush-hush' } } }) },
      'kubernetes.io/dockerconfigjson',
    );
  const found = async (stage: GuestHarness, ...names: string[]) => {
    const pod = await stage.pod((spec) => (spec.imagePullSecrets = names.map((name) => ({ name }))));
    return createPullCredentials(stage.node)(pod, image, never);
  };

  it('are read with the permissions of the Node, and matched to the image (INC-421)', () =>
    withGuestHarness(async (stage) => {
      await holding(stage, 'other', 'x', 'example.com');
      await holding(stage, 'one', 'somebody');
      assert.deepEqual(await found(stage, 'other', 'one', 'one'), {
        credentials: { host: 'ghcr.io', username: 'somebody', password: 'hush-hush' },
        problems: [],
      });
      assert.equal(stage.requests.length, 2);
    }));

  it('that are missing are reported, and the others are used', () =>
    withGuestHarness(async (stage) => {
      await holding(stage, 'one', 'somebody');
      const { credentials, problems } = await found(stage, 'gone', 'one', '');
      assert.equal(credentials?.username, 'somebody');
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', /^Secret gone of imagePullSecrets is not there; make it/);
    }));

  it('of another type are reported without their content', () =>
    withGuestHarness(async (stage) => {
      await stage.secret('odd', { password: 'hush-hush' });
      const { credentials, problems } = await found(stage, 'odd');
      assert.equal(credentials, undefined);
      assert.match(problems.join(), /^Secret odd holds no registry credentials/);
      assert.doesNotMatch(problems.join(), /hush/);
    }));

  it('may be empty', () =>
    withGuestHarness(async (stage) => assert.deepEqual(await found(stage), { credentials: undefined, problems: [] })));

  it('reject when the API server fails', () =>
    withGuestHarness(async (stage) => {
      stage.intercept = () => {
        throw new KubeError('unreachable', 'no answer');
      };
      await assert.rejects(found(stage, 'one'), { reason: 'unreachable' });
    }));
});
