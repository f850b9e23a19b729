import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Taint, Toleration } from '../runtime/objects.ts';
import { tolerates, tolerationTime } from './tolerations.ts';

const taint: Taint = { key: 'mac', value: 'm4', effect: 'NoSchedule' };

const tolerating: [string, Toleration, boolean][] = [
  ['key and value', { key: 'mac', operator: 'Equal', value: 'm4', effect: 'NoSchedule' }, true],
  ['no operator means Equal', { key: 'mac', value: 'm4' }, true],
  ['another value', { key: 'mac', value: 'm2' }, false],
  ['another key', { key: 'pc', operator: 'Exists' }, false],
  ['another effect', { key: 'mac', operator: 'Exists', effect: 'NoExecute' }, false],
  ['Exists takes any value', { key: 'mac', operator: 'Exists' }, true],
  ['Exists without a key takes everything', { operator: 'Exists' }, true],
  ['Gt is switched off', { key: 'mac', operator: 'Gt', value: '1' }, false],
];
for (const [name, toleration, expected] of tolerating) {
  test(`toleration of a taint: ${name}`, () => assert.equal(tolerates(toleration, taint), expected));
}

const a: Taint = { key: 'a', effect: 'NoExecute' };
const b: Taint = { key: 'b', effect: 'NoExecute' };
const forA = (tolerationSeconds?: number): Toleration => ({
  key: 'a',
  operator: 'Exists',
  ...(tolerationSeconds === undefined ? {} : { tolerationSeconds }),
});

const times: [string, Taint[], Toleration[], number][] = [
  ['no taints: for ever', [], [], Number.POSITIVE_INFINITY],
  ['no toleration: not at all', [a], [], 0],
  ['one of two is not tolerated: not at all', [a, b], [forA()], 0],
  ['a toleration without seconds: for ever', [a], [forA()], Number.POSITIVE_INFINITY],
  ['the shortest of all counts', [a, b], [forA(300), { key: 'b', operator: 'Exists', tolerationSeconds: 5 }], 5],
  ['the first that fits counts', [a], [forA(5), forA()], 5],
  ['negative seconds: not at all', [a], [forA(-1)], 0],
];
for (const [name, taints, tolerations, expected] of times) {
  test(`time on a tainted node: ${name}`, () => assert.equal(tolerationTime(taints, tolerations), expected));
}
