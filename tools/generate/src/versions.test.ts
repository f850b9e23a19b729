import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withVersion } from './versions.ts';

describe('the version of a release is written', () => {
  test('into a workspace: its own version, and that of its workspace dependencies', () => {
    const text = JSON.stringify(
      {
        name: '@tartan/api',
        version: '0.0.0',
        exports: { '.': './src/index.ts' },
        dependencies: { '@tartan/kube': '0.0.0', zod: '0.0.0' },
      },
      undefined,
      2,
    );
    const { dependencies, ...rest } = JSON.parse(withVersion(text, 'npm', '1.2.3'));
    assert.deepEqual(rest, { name: '@tartan/api', version: '1.2.3', exports: { '.': './src/index.ts' } });
    assert.deepEqual(dependencies, { '@tartan/kube': '1.2.3', zod: '0.0.0' });
  });

  test('into the lock file: of the root and of workspaces only', () => {
    const packages = {
      '': { name: 'tartan', version: '0.0.0' },
      'node_modules/yaml': { version: '0.0.0' },
      'node_modules/@tartan/kube': { resolved: 'packages/kube', link: true },
      'packages/kube': { name: '@tartan/kube', version: '0.0.0', dependencies: { yaml: '0.0.0' } },
    };
    const text = JSON.stringify({ name: 'tartan', version: '0.0.0', lockfileVersion: 3, packages }, undefined, 2);
    assert.deepEqual(JSON.parse(withVersion(text, 'npm', '1.2.3')), {
      name: 'tartan',
      version: '1.2.3',
      lockfileVersion: 3,
      packages: {
        ...packages,
        '': { name: 'tartan', version: '1.2.3' },
        'packages/kube': { name: '@tartan/kube', version: '1.2.3', dependencies: { yaml: '0.0.0' } },
      },
    });
  });

  test('into the chart, as its version and that of its image', () => {
    const text = 'apiVersion: v2\nversion: 0.0.0\nappVersion: "0.0.0"\nkubeVersion: ">= 1.33.0-0"\n';
    assert.equal(
      withVersion(text, 'chart', '1.2.3'),
      'apiVersion: v2\nversion: 1.2.3\nappVersion: "1.2.3"\nkubeVersion: ">= 1.33.0-0"\n',
    );
  });

  test('into the image, with an error when its place is missing', () => {
    const label = 'LABEL org.opencontainers.image.version=';
    assert.equal(withVersion(`FROM a\n${label}"0.0.0"\n`, 'image', '1.2.3'), `FROM a\n${label}"1.2.3"\n`);
    assert.throws(() => withVersion('FROM a\n', 'image', '1.2.3'), /no version is found/);
  });
});
