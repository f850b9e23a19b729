import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { KubeError } from '@tartan/kube';
import { portFor, readableError, readSavedState, writeSavedState } from './data-folder.ts';

describe('saved state in the --data folder', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tartan-kept-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('an unused folder has no saved state', async () => {
    assert.equal(await readSavedState(folder), undefined);
  });

  test('saved state is read back', async () => {
    await writeSavedState(folder, { port: 6443, release: 3 });
    assert.deepEqual(await readSavedState(folder), { port: 6443, release: 3 });
  });

  for (const text of ['', '{', '[]', '{"port":0,"release":1}', '{"port":6443}'])
    test(`${JSON.stringify(text)} is rejected with a message`, async () => {
      await writeFile(join(folder, 'state.json'), text);
      await assert.rejects(
        readSavedState(folder),
        /is invalid, so the fleet cannot be continued.*Choose another folder/s,
      );
    });

  const kept = { port: 6443, release: 1 };
  const ports: [string, Parameters<typeof portFor>[0], number, number][] = [
    ['any, at first', undefined, 0, 0],
    ['the one that is asked for, at first', undefined, 7000, 7000],
    ['the one it had', kept, 0, 6443],
    ['the one it had, when asked for', kept, 6443, 6443],
  ];
  for (const [what, state, wanted, port] of ports)
    test(`the port is ${what}`, () => assert.equal(portFor(state, wanted, 'x'), port));

  test('a port other than the saved one is rejected', () => {
    assert.throws(() => portFor(kept, 7000, '/data'), /use port 6443 of the Kubernetes API/);
  });
});

const system = (code: string): Error => Object.assign(new Error(`${code}: write`), { code });

describe('errors of tartan up', () => {
  for (const [code, words] of [
    ['ENOSPC', /^the disk that holds \/data is full .*Free some space/],
    ['EDQUOT', /quota/],
    ['EACCES', /^\/data is not writable .*Change its permissions/],
    ['EROFS', /read-only disk/],
    ['ENOTDIR', /cannot be a folder/],
    ['EEXIST', /is not a folder/],
  ] as const)
    test(`${code} is explained in a sentence`, () => {
      const problem = readableError(system(code), '/data');
      assert.match(problem instanceof Error ? problem.message : '', words);
    });

  test('a missing permission is named', () => {
    const refused = new KubeError('forbidden', 'cannot create nodes.');
    const problem = readableError(refused, '/data');
    assert.match(
      problem instanceof Error ? problem.message : '',
      /you may not install .*cannot create nodes\. Use a kubeconfig of/,
    );
  });

  test('other errors pass unchanged', () => {
    const own = new Error('Port 6443 on 127.0.0.1 is already in use');
    assert.equal(readableError(own, '/data'), own);
    assert.equal(readableError('text', '/data'), 'text');
  });
});
