import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TartError } from '@tartan/tart';
import fc from 'fast-check';
import { decidePull, defaultPullPolicy, type PullPolicy } from './golden-base.ts';
import { createHolds } from './holds.ts';
import {
  formatPullReference,
  goldenName,
  type ImageReference,
  isGoldenName,
  parseReference,
} from './image-reference.ts';
import { registryCredentials } from './pull-secrets.ts';
import { createPulls } from './pulls.ts';

const digest = `sha256:${'a'.repeat(64)}`;
const parsed = (text: string): ImageReference => {
  const reference = parseReference(text);
  assert.ok(reference !== undefined, text);
  return reference;
};

describe('an image reference', () => {
  test('has a registry with its port, a repository, and a tag or a digest', () => {
    assert.deepEqual(parseReference('registry.local:5000/a/b_c:1.2@' + digest), {
      registry: 'registry.local:5000',
      repository: 'registry.local:5000/a/b_c',
      tag: '1.2',
      digest,
    });
    assert.equal(parsed('registry.local:5000/a').repository, 'registry.local:5000/a');
    assert.equal(parsed('registry.local:5000/a').tag, 'latest');
    assert.equal(parsed(`ghcr.io/a/b@${digest}`).tag, undefined);
  });

  test('is invalid without a registry, with an empty part, or with a path traversal', () => {
    for (const text of [
      '',
      'macos',
      'ghcr.io/',
      'ghcr.io//a',
      'ghcr.io/../a',
      'ghcr.io/./a',
      'ghcr.io/a:..',
      'ghcr.io/a@sha256:12',
      'ghcr.io/a:',
      '--help/a',
      'ghcr.io/a b',
      'ghcr.io/a\n',
    ])
      assert.equal(parseReference(text), undefined, text);
    fc.assert(fc.property(fc.string(), (text) => (parseReference(text), true)));
  });

  test('a Pod that names a tag and a digest means the digest (INC-48)', () => {
    const both = parsed(`ghcr.io/a/b:1@${digest}`);
    assert.equal(formatPullReference(both), `ghcr.io/a/b@${digest}`);
  });
});

describe('a golden base', () => {
  test('is named by the hash of repository@digest', () => {
    // printf 'ghcr.io/a/b@sha256:aaaa…' | shasum -a 256
    const name = goldenName({ repository: 'ghcr.io/a/b', digest });
    assert.equal(name, 'tuist-golden-1a3f1916bde2f742');
    assert.ok(isGoldenName(name));
    assert.notEqual(name, goldenName({ repository: 'ghcr.io/a/c', digest }));
    assert.ok(!isGoldenName('tuist-golden-by-hand'));
    assert.ok(!isGoldenName(`x${name}`));
  });
});

describe('imagePullPolicy', () => {
  const tag = parsed('ghcr.io/a/b:1');
  const latest = parsed('ghcr.io/a/b');
  const pinned = parsed(`ghcr.io/a/b@${digest}`);
  const cases: readonly [PullPolicy | undefined, ImageReference, boolean, string][] = [
    ['Always', tag, true, 'pull'],
    ['Always', tag, false, 'pull'],
    ['Always', pinned, true, 'use local'],
    ['Always', pinned, false, 'pull'],
    ['IfNotPresent', latest, true, 'use local'],
    ['IfNotPresent', tag, false, 'pull'],
    ['Never', tag, true, 'use local'],
    ['Never', pinned, false, 'refuse'],
    [undefined, latest, true, 'pull'],
    [undefined, tag, true, 'use local'],
    [undefined, pinned, false, 'pull'],
  ];
  for (const [policy, reference, isHere, decision] of cases)
    test(`${policy ?? 'none'}, ${formatPullReference(reference).slice(0, 20)}, ${isHere ? 'here' : 'not here'}: ${decision}`, () => {
      assert.equal(decidePull(policy, reference, isHere), decision);
    });
  test('latest beside a digest is not pulled again', () => {
    assert.equal(defaultPullPolicy(parsed(`ghcr.io/a/b:latest@${digest}`)), 'IfNotPresent');
  });
});

describe('imagePullSecrets', () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const secret = (auths: object, name = 's') => ({
    name,
    data: { '.dockerconfigjson': base64(JSON.stringify({ auths })) },
  });
  const image = parsed('registry.local:5000/team/app:1');
  const userFor = (...secrets: Parameters<typeof registryCredentials>[0]) =>
    registryCredentials(secrets, image).credentials?.username;

  test('give the credentials for the registry of the image, and for no other', () => {
    const auths = {
      'registry.local': { username: 'no port', password: 'x' },
      'registry.local:5001': { username: 'other port', password: 'x' },
      'https://registry.local:5000/v2/': { auth: base64('me:pass:word') },
    };
    assert.deepEqual(registryCredentials([secret(auths)], image).credentials, {
      host: 'registry.local:5000',
      username: 'me',
      password: 'pass:word',
    });
    assert.equal(userFor(secret({ 'registry.local': auths['registry.local'] })), undefined);
    assert.equal(userFor(secret({ 'xregistry.local:5000': auths['registry.local'] })), undefined);
  });

  test('the most specific entry wins, then the order in the Pod; a star matches one label', () => {
    const user = (username: string) => ({ username, password: 'x' });
    const wide = secret({ 'registry.local:5000': user('wide') });
    const narrow = secret({ 'registry.local:5000/team': user('narrow') });
    assert.equal(userFor(wide, narrow), 'narrow');
    assert.equal(userFor(wide, secret({ 'registry.local:5000': user('second') })), 'wide');
    assert.equal(userFor(secret({ 'registry.local:5000/tea': user('x') })), undefined);
    assert.equal(userFor(secret({ '*.local:5000': user('star') })), 'star');
    assert.equal(userFor(secret({ '*:5000': user('star') })), undefined);
  });

  test('problems never contain secret data', () => {
    const odd = [
      { name: 'empty' },
      { name: 'noise', data: { '.dockerconfigjson': base64('hunter2') } },
      secret({ 'registry.local:5000': { auth: base64('hunter2') } }, 'half'),
      {
        name: 'old',
        data: { '.dockercfg': base64(JSON.stringify({ 'registry.local:5000': { auth: base64('u:p') } })) },
      },
    ];
    const { credentials, problems } = registryCredentials(odd, image);
    assert.equal(credentials?.username, 'u');
    assert.equal(problems.length, 3);
    assert.doesNotMatch(problems.join(), /hunter2/);
  });
});

describe('pulls', () => {
  const open = new AbortController().signal;
  type Call = {
    image: string;
    options: Parameters<Parameters<typeof createPulls>[0]['tart']['pull']>[1];
    end: PromiseWithResolvers<void>;
  };
  const setUp = (limit = 2) => {
    const calls: Call[] = [];
    const pulls = createPulls({
      limit,
      tart: {
        pull: (image, options) => {
          const end = Promise.withResolvers<void>();
          calls.push({ image, options, end });
          options?.signal?.addEventListener('abort', () => end.reject(new Error('aborted')));
          return end.promise;
        },
      },
    });
    return { calls, pulls };
  };
  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  test('two Pods of one image share a download and its progress', async () => {
    const { calls, pulls } = setUp();
    const seen: string[] = [];
    const one = pulls.pull({ image: 'r/a:1', signal: open, onProgress: ({ stage: at }) => seen.push(`one ${at}`) });
    calls[0]?.options?.onProgress?.({ stage: 'manifest' });
    const two = pulls.pull({ image: 'r/a:1', signal: open, onProgress: ({ stage: at }) => seen.push(`two ${at}`) });
    await turn();
    assert.equal(calls.length, 1);
    assert.deepEqual(seen, ['one manifest', 'two manifest']);
    calls[0]?.end.resolve();
    await Promise.all([one, two]);
    void pulls.pull({ image: 'r/a:1', signal: open });
    assert.equal(calls.length, 2, 'a later one looks again: the tag may have moved');
  });

  test('runs up to the limit; an aborted waiter never starts', async () => {
    const { calls, pulls } = setUp(1);
    const gone = new AbortController();
    const first = pulls.pull({ image: 'r/a:1', signal: open });
    const second = pulls.pull({ image: 'r/b:1', signal: gone.signal });
    const third = pulls.pull({ image: 'r/c:1', signal: open });
    await turn();
    assert.equal(calls.length, 1);
    gone.abort(new Error('the Pod is gone'));
    await assert.rejects(second, /the Pod is gone/);
    calls[0]?.end.resolve();
    await first;
    await turn();
    assert.deepEqual(
      calls.map(({ image }) => image),
      ['r/a:1', 'r/c:1'],
    );
    calls[1]?.end.resolve();
    await third;
  });

  test('a download is aborted with its last waiter', async () => {
    const { calls, pulls } = setUp();
    const [one, two] = [new AbortController(), new AbortController()];
    const first = pulls.pull({ image: 'r/a:1', signal: one.signal });
    const second = pulls.pull({ image: 'r/a:1', signal: two.signal });
    one.abort(new Error('left'));
    await assert.rejects(first, /left/);
    assert.equal(calls[0]?.options?.signal?.aborted, false);
    two.abort(new Error('left too'));
    await assert.rejects(second, /left too/);
    assert.equal(calls[0]?.options?.signal?.aborted, true);
  });

  test("a pull refused with another Pod's secret is retried with our own", async () => {
    const { calls, pulls } = setUp();
    const mine = { host: 'r', username: 'me', password: 'x' };
    const other = pulls.pull({ image: 'r/a:1', signal: open });
    const ours = pulls.pull({ image: 'r/a:1', signal: open, credentials: mine });
    calls[0]?.end.reject(new TartError('registry refused', 'no', { command: 'pull' }));
    await assert.rejects(other, /no/);
    await turn();
    assert.equal(calls[1]?.options?.credentials, mine);
    calls[1]?.end.resolve();
    await ours;
  });
});

describe('holds', () => {
  test('a held name is not deleted, and a hold waits for a delete in progress (INC-26)', async () => {
    const holds = createHolds();
    const release = await holds.hold('a');
    const again = await holds.hold('a');
    release();
    release();
    assert.equal(await holds.ifUnheld('a', async () => assert.fail('deleted')), false);
    again();
    const { promise, resolve } = Promise.withResolvers<void>();
    const deleting = holds.ifUnheld('a', () => promise);
    let has = false;
    const held = holds.hold('a').then(() => (has = true));
    await Promise.resolve();
    assert.equal(has, false);
    resolve();
    assert.equal(await deleting, true);
    await held;
    assert.deepEqual([...holds.names()], ['a']);
  });
});
