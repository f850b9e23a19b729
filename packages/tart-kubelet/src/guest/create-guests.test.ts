import assert from 'node:assert/strict';
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { KubeError } from '@tartan/kube';
import fc from 'fast-check';
import { examplePod } from '../pods/testing/example.ts';
import { formatEnvFile } from './create-guests.ts';
import { mount, problemOf, sharesOf, withGuestHarness } from './testing/harness.ts';

const never = new AbortController().signal;

describe('the folders of a guest', () => {
  it('are two shares: one read-only, one writable', () =>
    withGuestHarness(async ({ folder, mode, pod, prepare, read, vm }) => {
      const shares = sharesOf(await prepare(await pod()));
      assert.deepEqual(shares, {
        env: { path: join(folder, vm, 'env'), readOnly: true },
        status: { path: join(folder, vm, 'status'), readOnly: false },
      });
      assert.equal(await read('env/tuist.env'), '');
      assert.equal(await mode('.'), 0o700);
      assert.equal(await mode('env'), 0o700);
      assert.equal(await mode('env/tuist.env'), 0o600);
      assert.equal(await mode('status'), 0o777);
    }));

  it('contain the environment of the container from all its sources', () =>
    withGuestHarness(async ({ configMap, pod, prepare, read, requests, secret }) => {
      await configMap('plain', { A: 'from map', '1st': 'x' }, { BINARY: 'AAEC' });
      await secret('hidden', { B: 'one\ntwo \\n' });
      const ready = await prepare(
        await pod(({ containers: [container] }) => {
          assert.ok(container);
          container.envFrom = [{ configMapRef: { name: 'plain' } }, { secretRef: { name: 'missing', optional: true } }];
          container.env = [
            { name: 'FROM_SECRET', valueFrom: { secretKeyRef: { name: 'hidden', key: 'B' } } },
            { name: 'ADDRESS', valueFrom: { fieldRef: { fieldPath: 'status.hostIP' } } },
            { name: 'JOINED', value: '$(A)!' },
          ];
        }),
      );
      assert.deepEqual('skipped' in ready && ready.skipped, ['1st']);
      assert.equal(
        await read('env/tuist.env'),
        'A=from map\nADDRESS=10.0.0.1\nFROM_SECRET=one\\ntwo \\\\n\nJOINED=from map!\n',
      );
      assert.equal(requests.length, 3);
    }));

  it('contain the volumes that the container mounts, each as a share', () =>
    withGuestHarness(async ({ configMap, files, folder, mode, pod, prepare, read, secret, vm }) => {
      await configMap('settings', { one: '1', two: '2' }, { raw: Buffer.from([0, 255]).toString('base64') });
      await secret('keys', { id: 'the key', other: 'not wanted' });
      const ready = await prepare(
        await pod((spec, { metadata = {} }) => {
          metadata.labels = { b: '2', a: 'x' };
          mount(
            spec,
            'all',
            { configMap: { name: 'settings' } },
            { secret: { name: 'keys', items: [{ key: 'id', path: 'deep/er/id' }] } },
            { configMap: { name: 'nowhere', optional: true } },
            { secret: { name: 'keys', optional: true, items: [{ key: 'no such', path: 'no' }] } },
            {
              downwardAPI: {
                items: [
                  { path: 'name', fieldRef: { fieldPath: 'metadata.name' } },
                  { path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } },
                ],
              },
            },
          );
          spec.volumes?.push({ name: 'unmounted', projected: { sources: [{ configMap: { name: 'nowhere' } }] } });
        }),
      );
      assert.deepEqual(sharesOf(ready)['all'], { path: join(folder, vm, 'volumes/all'), readOnly: true });
      assert.deepEqual(await files(), [
        'env/tuist.env',
        'volumes/all/deep/er/id',
        'volumes/all/labels',
        'volumes/all/name',
        'volumes/all/one',
        'volumes/all/raw',
        'volumes/all/two',
      ]);
      assert.equal(await read('volumes/all/deep/er/id'), 'the key');
      assert.equal(await read('volumes/all/labels'), 'a="x"\nb="2"');
      assert.equal(await read('volumes/all/name'), 'runner-1');
      assert.equal(await mode('volumes/all/deep/er/id'), 0o600);
      assert.equal(await mode('volumes/all/deep'), 0o700);
    }));

  it('contain the file of the later source when two project the same path', () =>
    withGuestHarness(async ({ configMap, pod, prepare, read }) => {
      await configMap('a', { key: 'first' });
      await configMap('b', { key: 'second' });
      const both = [{ configMap: { name: 'a' } }, { configMap: { name: 'b' } }];
      sharesOf(await prepare(await pod((spec) => mount(spec, 'v', ...both))));
      assert.equal(await read('volumes/v/key'), 'second');
    }));

  it('contain no files of an earlier run, neither inputs nor status', () =>
    withGuestHarness(async ({ files, folder, guests, pod, prepare, vm }) => {
      for (const path of ['status/deep', 'volumes/old', 'env']) mkdirSync(join(folder, vm, path), { recursive: true });
      for (const path of ['status/runner-rc', 'status/deep/x', 'volumes/old/key', 'env/sa_token', 'new-half'])
        writeFileSync(join(folder, vm, path), '0');
      const host = join(folder, '../host');
      mkdirSync(host);
      writeFileSync(join(host, 'file'), '');
      symlinkSync(host, join(folder, vm, 'status/link'));
      assert.equal((await guests.result(vm))?.code, 0);
      sharesOf(await prepare(await pod()));
      assert.deepEqual(await files(), ['env/tuist.env']);
      assert.equal(await guests.result(vm), undefined);
      assert.ok(existsSync(join(host, 'file')));
    }));

  it('are empty while the configuration has an error', () =>
    withGuestHarness(async ({ folder, guests, pod, prepare, vm }) => {
      mkdirSync(join(folder, vm, 'status'), { recursive: true });
      problemOf(await prepare(await pod((spec) => mount(spec, 'v', { secret: { name: 'missing' } }))));
      assert.deepEqual(await guests.list(), []);
    }));

  it('are not written after an abort', () =>
    withGuestHarness(async (harness) => {
      const ending = new AbortController();
      await harness.configMap('c', {});
      const pod = await harness.pod((spec) => mount(spec, 'v', { configMap: { name: 'c' } }));
      const plain = examplePod();
      await assert.rejects(harness.guests.prepare(plain, harness.vm, { hostIP: undefined }, AbortSignal.abort()));
      harness.intercept = () => ending.abort(new Error('left'));
      await assert.rejects(harness.guests.prepare(pod, harness.vm, { hostIP: undefined }, ending.signal));
      assert.deepEqual(await harness.guests.list(), []);
    }));

  it('are removed with its VM, and remaining folders are listed by name', () =>
    withGuestHarness(async ({ folder, guests, pod, prepare, vm }) => {
      sharesOf(await prepare(await pod()));
      mkdirSync(join(folder, 'tuist-runner.1'));
      writeFileSync(join(folder, 'a-file'), '');
      mkdirSync(join(folder, '.hidden'));
      assert.deepEqual((await guests.list()).toSorted(), [vm, 'tuist-runner.1']);
      await guests.remove(vm);
      await guests.remove(vm);
      assert.deepEqual(await guests.list(), ['tuist-runner.1']);
      assert.equal(await guests.result(vm), undefined);
    }));

  for (const vm of ['', '.', '..', '../x', 'a/b', '/x', 'a\0b', '-x'])
    it(`are never created for a VM named ${JSON.stringify(vm)}`, () =>
      withGuestHarness(async ({ guests, pod }) => {
        const made = await pod();
        await assert.rejects(guests.prepare(made, vm, { hostIP: undefined }, never), /is no name of a virtual machine/);
        await assert.rejects(guests.remove(vm), /is no name of a virtual machine/);
        await assert.rejects(guests.result(vm), /is no name of a virtual machine/);
        assert.throws(() => guests.statusFolder(vm), /is no name of a virtual machine/);
      }));
});

describe('input that a guest cannot get', () => {
  const field = (fieldPath: string, path = 'f') => ({ downwardAPI: { items: [{ path, fieldRef: { fieldPath } }] } });
  const at = (path: string) => ({ configMap: { name: 'there', items: [{ key: 'key', path }] } });
  for (const [what, name, sources, expected] of [
    ['a Secret that is not there', 'v', [{ secret: { name: 'gone' } }], /Secret gone is not there\. Make it/],
    ['a ConfigMap that is not there', 'v', [{ configMap: { name: 'gone' } }], /ConfigMap gone is not there\. Make it/],
    [
      'a key that is not there',
      'v',
      [{ configMap: { name: 'there', items: [{ key: 'no', path: 'no' }] } }],
      /ConfigMap there has no key no\. Add it/,
    ],
    ['a share that has a name of ours', 'status', [], /share named status already/],
    ['another share that has a name of ours', 'env', [], /share named env already/],
    ['a field that is known later', 'v', [field('status.podIP')], /status\.podIP, which .* Take it out/],
    [
      'a resource of the container',
      'v',
      [{ downwardAPI: { items: [{ path: 'f', resourceFieldRef: { resource: 'limits.cpu' } }] } }],
      /a resource of the container, which/,
    ],
    ['what no guest knows', 'v', [{ clusterTrustBundle: { path: 'x' } }], /projects clusterTrustBundle/],
    ['one file under two names', 'v', [at('Key'), { configMap: { name: 'there' } }], /both Key and key/],
    [
      'a file that is a folder',
      'v',
      [at('key/below'), { configMap: { name: 'there' } }],
      /the file key and key\/below/,
    ],
    [
      'a file where a token is',
      'v',
      [at('token'), { serviceAccountToken: { path: 'token', audience: 'a', expirationSeconds: 600 } }],
      /both token and token/,
    ],
  ] as const)
    it(`is ${what}`, () =>
      withGuestHarness(async ({ configMap, pod, prepare }) => {
        await configMap('there', { key: 'value' });
        const problem = problemOf(await prepare(await pod((spec) => mount(spec, name, ...sources))));
        assert.match(problem, /^CreateContainerConfigError: /);
        assert.match(problem, expected);
      }));

  for (const path of ['../x', 'a/../../x', '/x', '..', '.', '', 'a//b', 'a/', 'a\0b'])
    it(`is a file at ${JSON.stringify(path)}: it may lead out of the share`, () =>
      withGuestHarness(async ({ configMap, files, pod, prepare, folder }) => {
        await configMap('there', { key: 'value' });
        // The server rejects such a path, and lets a Node read only what a stored Pod of its own refers to.
        const made = await pod((fresh) => mount(fresh, 'v', at('key')));
        const { spec } = made;
        assert.ok(spec);
        for (const source of [
          at(path),
          { serviceAccountToken: { path, audience: 'a' } },
          field('metadata.name', path),
        ]) {
          spec.volumes = [];
          mount(spec, 'v', source);
          assert.match(problemOf(await prepare(made)), /in the volume v may lead out of it/);
        }
        await assert.rejects(files(), { code: 'ENOENT' });
        assert.ok(!existsSync(join(folder, 'x')));
      }));

  it('is a variable with a zero byte', () =>
    withGuestHarness(async ({ pod, prepare, secret }) => {
      await secret('odd', { KEY: 'ab\0secret' });
      const made = await pod(({ containers: [container] }) => {
        if (container) container.envFrom = [{ secretRef: { name: 'odd' } }];
      });
      const problem = problemOf(await prepare(made));
      assert.match(problem, /variable KEY has a zero byte/);
      assert.doesNotMatch(problem, /secret/);
    }));

  it('rejects when the API server fails, as opposed to a Pod with an error', () =>
    withGuestHarness(async (harness) => {
      await harness.configMap('c', {});
      const pod = await harness.pod((spec) => mount(spec, 'v', { configMap: { name: 'c' } }));
      for (const reason of ['unreachable', 'forbidden', 'serverError'] as const) {
        harness.intercept = () => {
          throw new KubeError(reason, 'no');
        };
        await assert.rejects(harness.prepare(pod), { reason });
      }
    }));
});

/** Decodes as a guest does: docs/guest.md. */
const decode = (text: string): [string, string][] =>
  text
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const equals = line.indexOf('=');
      const value = line
        .slice(equals + 1)
        .replaceAll(/\\(.)/g, (_, character: string) => ({ n: '\n', r: '\r' })[character] ?? character);
      return [line.slice(0, equals), value];
    });

describe('the file of variables', () => {
  it('has one line for each, by name', () => {
    assert.equal(
      formatEnvFile(
        new Map([
          ['B', '2'],
          ['A', 'a=b "c" $d'],
          ['C', ''],
        ]),
      ),
      'A=a=b "c" $d\nB=2\nC=\n',
    );
    assert.equal(formatEnvFile(new Map()), '');
  });

  it('escapes backslashes and line ends (INC-425)', () => {
    assert.equal(
      formatEnvFile(
        new Map([
          ['A', 'x\\n'],
          ['B', 'x\n'],
          ['C', 'x\r\n'],
        ]),
      ),
      'A=x\\\\n\nB=x\\n\nC=x\\r\\n\n',
    );
  });

  it('round-trips every value', () => {
    const name = fc.stringMatching(/^[-._A-Za-z][-._A-Za-z0-9]{0,8}$/);
    const value = fc.oneof(
      fc.string({ unit: 'grapheme' }),
      fc.string({ unit: fc.constantFrom('\\', 'n', 'r', '\n', '\r', '=', ' ', '"') }),
    );
    fc.assert(
      fc.property(fc.dictionary(name, value), (variables) => {
        const entries = Object.entries(variables).filter(([, text]) => !text.includes('\0'));
        const text = formatEnvFile(new Map(entries));
        assert.deepEqual(
          decode(text),
          entries.toSorted(([one], [other]) => (one < other ? -1 : 1)),
        );
        assert.equal(formatEnvFile(new Map(entries.toReversed())), text);
      }),
    );
  });
});
