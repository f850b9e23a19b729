import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { KubeError } from '@tartan/kube';
import { problemOf } from './problem.ts';

const system = (code: string): Error => Object.assign(new Error(`${code}: write`), { code });

describe('what stopped tartan up', () => {
  for (const [code, words] of [
    ['ENOSPC', /^the disk that holds \/data is full .*Free some space/],
    ['EDQUOT', /quota/],
    ['EACCES', /^\/data may not be written to .*Change its rights/],
    ['EROFS', /cannot be written to/],
    ['ENOTDIR', /cannot be a folder/],
    ['EEXIST', /is no folder/],
  ] as const)
    test(`${code} is said in a sentence`, () => {
      const problem = problemOf(system(code), '/data');
      assert.match(problem instanceof Error ? problem.message : '', words);
    });

  test('a right that is missing is named', () => {
    const refused = new KubeError('forbidden', 'cannot create nodes.');
    const problem = problemOf(refused, '/data');
    assert.match(
      problem instanceof Error ? problem.message : '',
      /refuses .*cannot create nodes\. Use a kubeconfig of/,
    );
  });

  test('what has words of its own keeps them', () => {
    const own = new Error('Port 6443 on 127.0.0.1 is already in use');
    assert.equal(problemOf(own, '/data'), own);
    assert.equal(problemOf('text', '/data'), 'text');
  });
});
