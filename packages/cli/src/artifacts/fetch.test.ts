import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { tgzOf, zipOf } from './testing/archives.ts';
import { setUpArtifacts, sha256 } from './testing/fixtures.ts';

const tart = tgzOf([
  { name: 'tart.app/', type: '5' },
  { name: 'tart.app/Contents/MacOS/tart', content: 'tart' },
]);
const tools = tgzOf([
  { name: './README.md', content: '#' },
  { name: './crane', content: 'crane!' },
  { name: 'gcrane', content: 'other' },
]);
const packer = zipOf([
  { name: 'LICENSE.txt', content: 'BSL' },
  { name: 'packer', content: 'packer!' },
]);
const tailnet = tgzOf([
  { name: 'tailscale/1.2.3/bin/tailscaled', content: 'daemon' },
  { name: 'tailscale/1.2.3/README.md', content: '#' },
  { name: 'tailscale/1.2.3/bin/tailscale', content: 'client' },
]);
const npm = tgzOf([{ name: 'package/bin/node', content: 'node!' }]);

const pages = {
  '/tart-2.0.0.tar.gz': tart,
  '/tools.tar.gz': tools,
  '/packer.zip': packer,
  [`/tailscale/blobs/sha256:${sha256(tailnet)}`]: tailnet,
  '/node/-/node-26.0.0.tgz': npm,
};

const lockOf = (url: string): string => `
artifacts:
  - { name: tart, version: 2.0.0, url: '${url}/tart-{version}.tar.gz', sha256: ${sha256(tart)}, file: tart/tart.tar.gz, holds: tart.app/Contents/MacOS/tart }
  - { name: crane, version: 0.1.0, url: '${url}/tools.tar.gz', sha256: ${sha256(tools)}, file: crane/crane, take: [crane] }
  - { name: packer, version: 1.0.0, url: '${url}/packer.zip', sha256: ${sha256(packer)}, file: packer/packer, take: [packer] }
  - { name: tailscale, version: 1.2.3, url: '${url}/tailscale/blobs/sha256:{sha256}', bottle: arm64_sonoma, sha256: ${sha256(tailnet)}, file: tailscale/tailscale.tar.gz, take: ['tailscale/{version}/bin/tailscale', 'tailscale/{version}/bin/tailscaled'] }
  - { name: node, version: 26.0.0, url: '{npm}/node/-/node-{version}.tgz', integrity: sha512-${createHash('sha512').update(npm).digest('base64')}, file: tart-kubelet/node, take: [package/bin/node] }
`;

const everything = [
  'crane/crane',
  'fetched.json',
  'packer/packer',
  'tailscale/tailscale.tar.gz',
  'tart-kubelet/node',
  'tart/tart.tar.gz',
];

describe('tartan artifacts fetch and verify', () => {
  test('every artifact is converted to what the manager flags need, without temporary files', async (t) => {
    const { fetch, verify, files, tree } = await setUpArtifacts(t, pages, lockOf);
    const fetched = await fetch();
    assert.deepEqual([fetched.code, fetched.err], [0, '']);
    assert.match(fetched.out, /^tart\/tart\.tar\.gz: tart 2\.0\.0\ncrane\/crane: crane 0\.1\.0\n/);
    assert.deepEqual(await tree(), everything);
    const read = (file: string) => readFile(join(files, file));
    assert.deepEqual(await read('tart/tart.tar.gz'), tart);
    assert.equal(String(await read('crane/crane')), 'crane!');
    assert.equal(String(await read('packer/packer')), 'packer!');
    assert.equal(String(await read('tart-kubelet/node')), 'node!');
    assert.equal((await stat(join(files, 'packer/packer'))).mode & 0o777, 0o755);
    // As a Mac does it.
    const unpacked = join(files, '../unpacked');
    await mkdir(unpacked);
    await promisify(execFile)('tar', ['-xzf', join(files, 'tailscale/tailscale.tar.gz'), '-C', unpacked]);
    assert.deepEqual((await readdir(unpacked)).sort(), ['tailscale', 'tailscaled']);
    assert.equal(String(await readFile(join(unpacked, 'tailscale'))), 'client');
    assert.equal(String(await readFile(join(unpacked, 'tailscaled'))), 'daemon');
    assert.equal((await stat(join(unpacked, 'tailscaled'))).mode & 0o777, 0o755);
    const verified = await verify();
    assert.deepEqual([verified.code, verified.err], [0, '']);
  });

  test('a present file is not fetched again; a repeated fetch is reproducible', async (t) => {
    const { fetch, files, asked } = await setUpArtifacts(t, pages, lockOf);
    await fetch();
    const before = await readFile(join(files, 'tailscale/tailscale.tar.gz'));
    const count = asked.length;
    assert.match((await fetch()).out, /tart 2\.0\.0, unchanged\n/);
    assert.equal(asked.length, count);
    await rm(join(files, 'tailscale'), { recursive: true });
    assert.equal((await fetch('tailscale')).code, 0);
    assert.equal(asked.length, count + 1);
    assert.deepEqual(await readFile(join(files, 'tailscale/tailscale.tar.gz')), before);
  });

  test('a truncated, changed, missing or outdated file is detected and fetched again', async (t) => {
    const { fetch, verify, files, lock } = await setUpArtifacts(t, pages, lockOf);
    await fetch();
    await writeFile(join(files, 'tart/tart.tar.gz'), 'x');
    await writeFile(join(files, 'crane/crane'), 'x');
    await rm(join(files, 'packer/packer'));
    await writeFile(lock, (await readFile(lock, 'utf8')).replace('version: 26.0.0', 'version: 26.0.1'));
    const { code, out, err } = await verify();
    assert.deepEqual([code, out], [1, 'tailscale/tailscale.tar.gz: tailscale 1.2.3\n']);
    assert.match(
      err,
      /^tart: the file has sha256 [0-9a-f]{64}, and the lock file sha256 [0-9a-f]{64}\. Run tartan artifacts fetch tart\.$/m,
    );
    assert.match(err, /^crane: the file has changed since it was fetched\./m);
    assert.match(err, /^packer: the file is missing\./m);
    assert.match(err, /^node: the file was made of node 26\.0\.0 with sha512-/m);
    assert.equal((await fetch('tart', 'crane', 'packer')).code, 0);
    assert.equal((await verify('tart', 'crane', 'packer')).code, 0);
    await rm(join(files, 'fetched.json'));
    assert.match((await verify('crane')).err, /fetched\.json does not list the file/);
  });

  test('fetch and verify reject an artifact without checksum', async (t) => {
    const { fetch, verify, asked } = await setUpArtifacts(t, pages, (url) =>
      lockOf(url).replaceAll(/sha256: [0-9a-f]{64}, /g, ''),
    );
    for (const { code, err } of [await fetch('tart'), await verify('tart')]) {
      assert.equal(code, 1);
      assert.match(err, /^tart: the lock file has no checksum of tart 2\.0\.0\. Run tartan artifacts lock tart, /);
    }
    assert.deepEqual(asked, []);
  });

  test('an unknown name and an invalid lock file are rejected', async (t) => {
    const { fetch, verify, lock } = await setUpArtifacts(t, pages, lockOf);
    const unknown = await fetch('tarte');
    assert.equal(unknown.code, 2);
    assert.match(unknown.err, /has no tarte\. It has tart, crane, packer, tailscale, node\.\n$/);
    const cases: readonly [text: string, message: RegExp][] = [
      ['artifacts: [', /is not YAML/],
      ['artifacts: [{ name: x }]', /is not a lock file/],
      ["artifacts: [{ name: x, version: 1.0.0, url: y, file: '../x' }]", /file/],
      ['artifacts: [{ name: x, version: 1.0.0, url: y, file: a/x, sha256: short }]', /64 digits/],
      [
        'artifacts: [{ name: x, version: 1.0.0, url: y, file: a/x }, { name: y, version: 1.0.0, url: y, file: a/x }]',
        /the file a\/x twice/,
      ],
    ];
    for (const [text, message] of cases) {
      await writeFile(lock, text);
      const { code, err } = await verify();
      assert.equal(code, 2, text);
      assert.match(err, message);
    }
  });
});
