import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { placeholderVersion } from './any-version.ts';
import { checkout } from './bundle.ts';
import {
  buildAgent,
  buildInstaller,
  buildManager,
  buildRunners,
  buildTartan,
  buildUninstallCheck,
  maxAgentBytes,
} from './programs.ts';

const run = promisify(execFile);

/** Parsing a part takes some 20 bytes per byte, and the memory goal of the agent allows 5 MB for that. */
const mostOfOnePart = 250_000;

/** Every name that a bundle imports, statically or dynamically. */
const importsOf = (text: string): string[] =>
  [...text.matchAll(/(?:\bfrom|\bimport|\bimport\(|\brequire\()\s*(["'`])([^"'`\n$]+)\1/g)].map(
    ([, , name = '']) => name,
  );

/** The parts of a single-file program, by the names under which they import each other. */
const partsIn = (file: string): Map<string, string> =>
  new Map(
    behindLoader(file).map((part) => {
      const [name = '', ...lines] = part.split('\n//');
      return [name.replace('*/', ''), lines.join('\n')];
    }),
  );

/** The names of a part and of all that it imports statically. */
const importedAtStart = (parts: ReadonlyMap<string, string>, name: string, found = new Set<string>()): Set<string> => {
  found.add(name);
  for (const [, imported = ''] of (parts.get(name) ?? '').matchAll(/\bimport(?:[^("'`]*from)?"(\.\/[^"]+)"/g))
    if (!found.has(imported)) importedAtStart(parts, imported, found);
  return found;
};

const behindLoader = (file: string): string[] => readFileSync(file, 'utf8').split('\n/*').slice(1);

describe('the shipped bundles', () => {
  let folder: string;
  before(async () => {
    // Far from node_modules, so that every missing package shows.
    folder = await mkdtemp(join(tmpdir(), 'tartan-build-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const says = async (program: string, ...args: string[]): Promise<string> =>
    (await run(process.execPath, [program, ...args], { cwd: folder, env: {}, timeout: 60_000 })).stdout;

  test('the agent is one file below a megabyte that needs only Node', async () => {
    const agent = await buildAgent(join(folder, 'agent'));
    assert.deepEqual(readdirSync(join(folder, 'agent')), ['tart-kubelet.mjs']);
    assert.ok(statSync(agent).size < maxAgentBytes, `${statSync(agent).size} bytes`);
    const parts = partsIn(agent);
    const others = importsOf(readFileSync(agent, 'utf8')).filter((name) => !isBuiltin(name) && !parts.has(name));
    // ws looks for two native helpers, and works without them.
    assert.deepEqual(
      others.filter((name) => name !== 'bufferutil' && name !== 'utf-8-validate'),
      [],
    );
    const { version } = JSON.parse(readFileSync(join(checkout, 'packages/tart-kubelet/package.json'), 'utf8')) as {
      version: string;
    };
    assert.match(readFileSync(agent, 'latin1'), /^[\0-\x7f]*$/, 'V8 would keep the text with two bytes a character');
    assert.equal(await says(agent, '--version'), `v${version}\n`);
    assert.match(await says(agent, '--help'), /--kubeconfig </);
  });

  test('the agent is parsed in parts, so that none takes much memory', async () => {
    const agent = await buildAgent(join(folder, 'parts'));
    const sizes = [...partsIn(agent)].map(([name, { length }]) => [name.replace(/-.{8}\.mjs$/, ''), length] as const);
    assert.deepEqual(
      sizes.filter(([, size]) => size > mostOfOnePart),
      [],
    );
    const names = sizes.map(([name]) => name);
    for (const name of ['./main.mjs', './packages-tart-kubelet', './packages-kube', './yaml', './zod'])
      assert.ok(names.includes(name), `${name} is not among ${names.join(', ')}`);
    const all = behindLoader(agent).reduce((sum, { length }) => sum + length, 0);
    assert.ok(statSync(agent).size - all < 2000, 'what is no comment is parsed at once');
  });

  test('the agent starts without what it rarely or never uses', async () => {
    const parts = partsIn(await buildAgent(join(folder, 'start')));
    const loaded = new Map(
      [...importedAtStart(parts, './main.mjs')].map((name) => [name.replace(/-.{8}\.mjs$/, ''), parts.get(name) ?? '']),
    );
    const sizeOf = (name: string): number => loaded.get(name)?.length ?? 0;
    assert.ok(sizeOf('./zod') < 40_000, `zod has ${sizeOf('./zod')} bytes: use zod/mini`);
    assert.ok(sizeOf('./prom-client') < 20_000, `prom-client has ${sizeOf('./prom-client')} bytes: import parts of it`);
    assert.deepEqual(
      ['./packages-kube', './ws', './yaml'].filter((name) => loaded.has(name)),
      ['./packages-kube'],
      'the others are loaded on demand',
    );
  });

  test('an agent has the version that it was built with, or gets one later', async () => {
    const agent = await buildAgent(join(folder, 'versioned'), { version: '7.8.9' });
    assert.equal(await says(agent, '--version'), 'v7.8.9\n');
    const later = await buildAgent(join(folder, 'later'), { version: placeholderVersion });
    assert.ok(readFileSync(later, 'utf8').includes(placeholderVersion));
  });

  test('an agent that is too large for a rollout is rejected', async () => {
    await assert.rejects(buildAgent(join(folder, 'large'), { most: 1000 }), /\d+ bytes, and 1000 is the most/);
  });

  test('the manager contains the scripts for Macs', async () => {
    const manager = await buildManager(join(folder, 'manager'));
    assert.match(await says(manager, '--help'), /^The Cluster API provider/);
    const scripts = 'packages/host/scripts';
    const namesIn = (place: string): Set<string> => new Set(readdirSync(place, { recursive: true, encoding: 'utf8' }));
    assert.deepEqual(namesIn(join(folder, 'manager/files', scripts)), namesIn(join(checkout, scripts)));
  });

  test('the installer of definitions is one file beside the manager that needs only Node', async () => {
    const installer = await buildInstaller(join(folder, 'installer'));
    assert.deepEqual(readdirSync(join(folder, 'installer')), ['install-crds.mjs']);
    assert.match(await says(installer, '--help'), /^Brings Tartan's custom resource definitions up to date/);
  });

  test('the uninstall check is one file beside the manager', async () => {
    const check = await buildUninstallCheck(join(folder, 'check'));
    assert.deepEqual(readdirSync(join(folder, 'check')), ['check-uninstall.mjs']);
    assert.match(await says(check, '--help'), /^Says whether a release of Tartan can be uninstalled/);
  });

  test('the runners controller is one file that needs only Node', async () => {
    const runners = await buildRunners(join(folder, 'runners'));
    assert.deepEqual(readdirSync(join(folder, 'runners')), ['runners.mjs']);
    const parts = partsIn(runners);
    const others = importsOf(readFileSync(runners, 'utf8')).filter((name) => !isBuiltin(name) && !parts.has(name));
    assert.deepEqual(
      others.filter((name) => name !== 'bufferutil' && name !== 'utf-8-validate'),
      [],
    );
    assert.match(await says(runners, '--help'), /^The controller of GitHub Actions runners/);
    assert.match(await says(runners, '--version'), /^\d+\.\d+\.\d+\n$/);
  });

  test('tartan contains all that it starts, also the runners controller and the agent', async () => {
    const tartan = await buildTartan(join(folder, 'tartan'));
    assert.match(await says(tartan, '--help'), /prepare-host/);
    for (const name of ['tart-kubelet.mjs', 'runners.mjs'])
      assert.ok(statSync(join(folder, 'tartan/files', name)).isFile(), name);
    const names = readdirSync(join(folder, 'tartan')).filter((name) => name.endsWith('.mjs'));
    const outside = names.flatMap((name) => importsOf(readFileSync(join(folder, 'tartan', name), 'utf8')));
    assert.deepEqual(
      [...new Set(outside)].filter((name) => name.startsWith('@tartan/')).sort(),
      // Only in a checkout: the first is not needed with a shipped agent, and a missing second one is reported to the user.
      ['@tartan/tools-build', '@tartan/tools-kubernetes'],
    );
  });
});
