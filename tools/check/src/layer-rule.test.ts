import assert from 'node:assert/strict';
import { test } from 'node:test';
import { importsOf, layerOf, mayImport, workspaceOf } from './layer-rule.ts';

const arrows: [from: string, to: string, allowed: boolean][] = [
  ['packages/provider', 'packages/kube', true],
  ['packages/provider', 'packages/host', true],
  ['packages/kube', 'packages/api', false],
  ['packages/host', 'packages/provider', false],
  ['packages/provider', 'packages/runners', false],
  ['packages/provider', 'sim/kubernetes', false],
  ['packages/cli', 'sim/kubernetes', true],
  ['sim/kubernetes', 'packages/provider', false],
  ['test', 'sim/kubernetes', true],
  ['packages/unheard-of', 'packages/kube', false],
];

for (const [from, to, allowed] of arrows) {
  test(`${from} ${allowed ? 'may' : 'must not'} import ${to}`, () => {
    assert.equal(mayImport(from, to), allowed);
  });
}

test('a file belongs to the workspace that contains it', () => {
  assert.equal(layerOf('sim/kubernetes/src/object.ts'), 'sim/kubernetes');
  assert.equal(layerOf('test/regressions/000.test.ts'), 'test');
  assert.equal(layerOf('docs/x.md'), undefined);
});

test('a package name has a workspace', () => {
  assert.equal(workspaceOf('@tartan/sim-kubernetes'), 'sim/kubernetes');
  assert.equal(workspaceOf('@tartan/kube/clock'), 'packages/kube');
  assert.equal(workspaceOf('node:fs'), undefined);
});

test('imports are found in every form', () => {
  const source = `import a from 'a';\nimport 'b';\nexport { c } from "c";\nconst d = await import('d');\nconst e = require('e');`;
  assert.deepEqual(importsOf(source), ['a', 'b', 'c', 'd', 'e']);
});
