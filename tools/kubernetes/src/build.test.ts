import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { recipes } from './build/recipes.ts';
import { builtFolder, ensureBinaries } from './build.ts';

/** Its own cache, and a `go` that records its calls and writes a file in place of the binary. */
const fakeToolchain = (t: TestContext): { env: NodeJS.ProcessEnv; calls: () => string[]; folder: string } => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-build-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const calls = join(folder, 'calls');
  writeFileSync(calls, '');
  const script = `#!/bin/sh
echo "$CGO_ENABLED $*" >> ${calls}
while [ "$1" != -o ]; do shift; done
echo binary > "$2"
`;
  writeFileSync(join(folder, 'go'), script);
  chmodSync(join(folder, 'go'), 0o755);
  return {
    env: { PATH: `${folder}:/bin:/usr/bin`, TARTAN_CACHE: join(folder, 'cache') },
    calls: () => readFileSync(calls, 'utf8').split('\n').filter(Boolean),
    folder,
  };
};

test('every module pins its version and its checksums', () => {
  for (const recipe of recipes)
    assert.match(basename(builtFolder(recipe, {})), /^[a-z0-9.-]+-v\d+\.\d+\.\d+-[0-9a-f]{16}$/);
});

test('a binary is built once, with pinned modules, without C and with its version, and progress is reported', async (t) => {
  const { env, calls } = fakeToolchain(t);
  const lines: string[] = [];
  const { helm } = await ensureBinaries(['helm'], { env, log: (line) => lines.push(line) });
  assert.equal(readFileSync(helm, 'utf8'), 'binary\n');
  assert.equal(calls().length, 1);
  assert.match(
    calls()[0] ?? '',
    /^0 build -mod=readonly .*-trimpath .*version\.version=v\d.* helm\.sh\/helm\/v4\/cmd\/helm$/,
  );
  assert.match(lines[0] ?? '', /^building helm v/);
  assert.match(lines[1] ?? '', /^built helm v.* in \d+ s$/);
  await ensureBinaries(['helm'], { env, log: (line) => lines.push(line) });
  assert.equal(calls().length, 1);
  assert.equal(lines.length, 2);
});

test('binaries of one module are built together and share a folder', async (t) => {
  const { env, calls } = fakeToolchain(t);
  const paths = await ensureBinaries(['kubectl', 'kube-apiserver'], { env, log: () => {} });
  assert.equal(dirname(paths.kubectl), dirname(paths['kube-apiserver']));
  assert.equal(calls().length, 4);
});

test('binaries in KUBEBUILDER_ASSETS are used, and only the others are built', async (t) => {
  const { env, calls, folder } = fakeToolchain(t);
  const assets = join(folder, 'assets');
  mkdirSync(assets);
  writeFileSync(join(assets, 'kubectl'), '');
  const paths = await ensureBinaries(['kubectl', 'helm'], {
    env: { ...env, KUBEBUILDER_ASSETS: assets },
    log: () => {},
  });
  assert.equal(paths.kubectl, join(assets, 'kubectl'));
  assert.ok(paths.helm.startsWith(env['TARTAN_CACHE'] ?? '-'));
  assert.equal(calls().length, 1);
});
