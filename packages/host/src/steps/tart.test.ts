import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import type { Mac } from '@tartan/sim-mac';
import type { HostSpec } from '../host-spec.ts';
import { cutEverywhere } from '../testing/crash-injection.ts';
import { exampleArtifact, exampleSpec, putInStore } from '../testing/example-spec.ts';
import { footprint } from '../testing/footprint.ts';
import { type FreshMacs, freshMacs } from '../testing/fresh-macs.ts';
import { runStep } from '../testing/run-step.ts';
import { tinyTar } from '../testing/tiny-tar.ts';
import { tart } from './tart.ts';

const app = '/usr/local/lib/tart.app';

describe('tart', { concurrency: 2 }, () => {
  let macs: FreshMacs;
  let v1: HostSpec;
  let v2: HostSpec;

  const bundle = (version: string, more: Record<string, string> = {}): Buffer =>
    tinyTar({
      'tart.app/Contents/MacOS/tart': `#!/bin/sh\necho ${version} "$@"\n`,
      'tart.app/Contents/Info.plist': '<plist/>\n',
      ...more,
    });
  const withTart = (name: string, content: string | Buffer): HostSpec => ({
    ...v1,
    tart: exampleArtifact(macs.folder, name, content),
  });
  before(() => {
    macs = freshMacs();
    v1 = exampleSpec(macs.folder);
    v1 = withTart('tart 1', bundle('1'));
    v2 = withTart('tart 2', bundle('2'));
  });
  after(() => macs.stopAll());

  const install = async (mac: Mac, spec: HostSpec) => {
    putInStore(mac, spec.tart);
    return runStep(mac, tart, spec);
  };
  const version = async (mac: Mac): Promise<string> =>
    (await mac.run('"$TARTAN_ROOT"/usr/local/bin/tart --version')).stdout;
  const onlyTart = (mac: Mac): void =>
    assert.deepEqual(readdirSync(mac.path('/usr/local/lib')).sort(), ['tart.app', 'tart.app.sha256']);

  test('a fresh Mac gets the whole bundle, and a wrapper that starts it inside the bundle (INC-05)', async () => {
    const mac = await macs.start();
    const answer = await install(mac, v1);
    assert.deepEqual([answer.result, answer.stderr], ['applied', '']);
    assert.equal(await version(mac), '1 --version\n');
    assert.ok(existsSync(mac.path(`${app}/Contents/Info.plist`)));
    onlyTart(mac);
    assert.ok(mac.journal.entries.every(({ what }) => !what.includes('codesign')));
  });

  test('the wrapper passes its arguments unchanged', async () => {
    const mac = await macs.start();
    await install(mac, v1);
    const { stdout } = await mac.run(`"$TARTAN_ROOT"/usr/local/bin/tart run 'a  b' '$c'`);
    assert.equal(stdout, '1 run a  b $c\n');
  });

  test('a second run changes nothing', async () => {
    const mac = await macs.start();
    await install(mac, v1);
    const before = footprint(mac);
    assert.equal((await runStep(mac, tart, v1)).result, 'unchanged');
    assert.deepEqual(footprint(mac), before);
  });

  test('another version replaces it, on an idle host only (INC-05)', async () => {
    const mac = await macs.start();
    await install(mac, v1);
    putInStore(mac, v2.tart);
    assert.equal((await runStep(mac, tart, v2, { idle: false })).result, 'deferred');
    assert.equal(await version(mac), '1 --version\n');
    assert.equal((await runStep(mac, tart, v2)).result, 'applied');
    assert.equal(await version(mac), '2 --version\n');
    onlyTart(mac);
  });

  test('the bundle of the original system is replaced completely', async () => {
    const mac = await macs.start();
    mkdirSync(mac.path(`${app}/Contents/MacOS`), { recursive: true });
    writeFileSync(mac.path(`${app}/Contents/MacOS/tart`), '#!/bin/sh\necho 0\n', { mode: 0o755 });
    writeFileSync(mac.path(`${app}/Contents/left-over`), '');
    mkdirSync(mac.path('/usr/local/bin'), { recursive: true });
    writeFileSync(mac.path('/usr/local/bin/tart'), '#!/bin/sh\nexec something else\n', { mode: 0o755 });
    assert.equal((await install(mac, v1)).result, 'applied');
    assert.equal(await version(mac), '1 --version\n');
    assert.equal(existsSync(mac.path(`${app}/Contents/left-over`)), false);
  });

  test('a missing wrapper is written again, and the bundle is kept', async () => {
    const mac = await macs.start();
    await install(mac, v1);
    const inode = (): string[] => footprint(mac).files.filter((line) => line.includes('Contents/MacOS/tart'));
    const before = inode();
    rmSync(mac.path('/usr/local/bin/tart'));
    assert.equal((await runStep(mac, tart, v1)).result, 'applied');
    assert.deepEqual(inode(), before);
  });

  test('a bundle that does not run is unpacked again', async () => {
    const mac = await macs.start();
    await install(mac, v1);
    rmSync(mac.path(`${app}/Contents/MacOS/tart`));
    assert.equal((await runStep(mac, tart, v1)).result, 'applied');
    assert.equal(await version(mac), '1 --version\n');
  });

  const broken: readonly (readonly [string, () => Buffer | string])[] = [
    ['is no tar', () => 'no tar'],
    ['ends in the middle', () => bundle('2', { 'tart.app/big': 'x'.repeat(100_000) }).subarray(0, 200)],
    ['holds something else', () => tinyTar({ 'else/tart': '#!/bin/sh\n' })],
    ['does not run on this Mac', () => tinyTar({ 'tart.app/Contents/MacOS/tart': '#!/bin/sh\nexit 126\n' })],
  ];
  for (const [name, content] of broken) {
    test(`an artifact that ${name} keeps the previous version running`, async () => {
      const mac = await macs.start();
      await install(mac, v1);
      const before = footprint(mac).files.filter((line) => line.startsWith('/usr/local'));
      const answer = await install(mac, withTart('broken', content()));
      assert.equal(answer.code, 1);
      assert.notEqual(answer.stderr, '');
      assert.equal(await version(mac), '1 --version\n');
      assert.deepEqual(
        footprint(mac).files.filter((line) => line.startsWith('/usr/local')),
        before,
      );
    });
  }

  test('a missing artifact is an error that names it', async () => {
    const mac = await macs.start();
    const answer = await runStep(mac, tart, v1);
    assert.equal(answer.code, 1);
    assert.match(answer.stderr, new RegExp(`the artifact ${v1.tart.sha256} is not on this Mac`));
  });

  test('a full disk keeps the previous version running', async () => {
    const mac = await macs.start();
    await install(mac, v1);
    putInStore(mac, v2.tart);
    mac.faults.diskFree = 0;
    assert.notEqual((await runStep(mac, tart, v2)).code, 0);
    assert.equal(await version(mac), '1 --version\n');
    mac.faults.diskFree = undefined;
    assert.equal((await runStep(mac, tart, v2)).result, 'applied');
    onlyTart(mac);
  });

  test('after any interruption, a second run completes the step', async () => {
    const mac = await macs.start();
    putInStore(mac, v1.tart, v2.tart);
    const cuts = await cutEverywhere(tart, {
      spec: v2,
      prepare: async () => {
        assert.match((await runStep(mac, tart, v1)).result ?? '', /applied|unchanged/);
        return mac;
      },
      check: async () => {
        assert.match((await runStep(mac, tart, v2)).result ?? '', /applied|unchanged/);
        assert.equal(await version(mac), '2 --version\n');
        onlyTart(mac);
      },
    });
    assert.ok(cuts >= 8, String(cuts));
  });

  test('a run that fails after an interruption between its two renames restores the previous version', async () => {
    const mac = await macs.start();
    await install(mac, v1);
    renameSync(mac.path(app), mac.path(`${app}.tartan-old`));
    rmSync(mac.path(`${app}.sha256`));
    assert.equal((await install(mac, withTart('broken', 'no tar'))).code, 1);
    assert.equal(await version(mac), '1 --version\n');
  });

  test('the record names the artifact', async () => {
    const mac = await macs.start();
    await install(mac, v1);
    assert.equal(readFileSync(mac.path(`${app}.sha256`), 'utf8'), `${v1.tart.sha256}\n`);
  });
});
