import assert from 'node:assert/strict';
import { test } from 'node:test';
import { withMissingPackages, platformOf } from './complete-lock-file.ts';

const platforms: [name: string, platform: object][] = [
  ['@biomejs/cli-darwin-arm64', { os: ['darwin'], cpu: ['arm64'] }],
  ['@biomejs/cli-linux-x64-musl', { os: ['linux'], cpu: ['x64'], libc: ['musl'] }],
  ['@oxlint/binding-linux-arm-gnueabihf', { os: ['linux'], cpu: ['arm'], libc: ['glibc'] }],
  ['@oxlint/binding-win32-x64-msvc', { os: ['win32'], cpu: ['x64'] }],
  ['@rolldown/binding-wasm32-wasi', { cpu: ['wasm32'] }],
];

for (const [name, platform] of platforms) {
  test(`${name} is for ${JSON.stringify(platform)}`, () => {
    assert.deepEqual(platformOf(name), platform);
  });
}

test('a missing optional dependency is added, in its order', () => {
  const { packages, missing } = withMissingPackages({
    'node_modules/tool': {
      version: '1.0.0',
      dev: true,
      optionalDependencies: { 'tool-darwin-arm64': '1.0.0', 'tool-linux-x64': '1.0.0' },
    },
    'node_modules/tool-linux-x64': { version: '1.0.0' },
  });
  assert.deepEqual(missing, ['tool-darwin-arm64']);
  assert.deepEqual(Object.keys(packages), [
    'node_modules/tool',
    'node_modules/tool-darwin-arm64',
    'node_modules/tool-linux-x64',
  ]);
  assert.deepEqual(withMissingPackages(packages).missing, []);
});

test('a dependency beside its parent is found there', () => {
  const { missing } = withMissingPackages({
    'node_modules/a/node_modules/tool': { optionalDependencies: { x: '1.0.0' } },
    'node_modules/a/node_modules/x': { version: '1.0.0' },
  });
  assert.deepEqual(missing, []);
});
