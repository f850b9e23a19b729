import assert from 'node:assert/strict';
import { chmod, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { argumentsHash } from '@tartan/host';
import fc from 'fast-check';
import { checkArguments, hashArguments, wrongArgumentsExitCode } from './release.ts';

describe('the arguments of a release', () => {
  let folder = '';
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'release-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  const release = async (name: string, words: readonly string[]): Promise<string> => {
    const path = join(folder, name);
    await mkdir(path);
    await writeFile(join(path, 'arguments'), `${argumentsHash(words)}\n`);
    return path;
  };

  test('are hashed as the host steps hash them', () => {
    fc.assert(fc.property(fc.array(fc.string()), (words) => hashArguments(words) === argumentsHash(words)));
  });

  test('of the release are accepted', async () => {
    const words = ['--node-name=a', '--disable-vm-gc'];
    assert.equal(await checkArguments(await release('same', words), words), undefined);
  });

  test('of another release are rejected', async () => {
    const path = await release('other', ['--node-name=a', '--disable-vm-gc']);
    for (const words of [
      ['--node-name=a'],
      [],
      ['--disable-vm-gc', '--node-name=a'],
      ['--node-name=a --disable-vm-gc'],
    ])
      assert.match((await checkArguments(path, words)) ?? '', /expects other arguments/, words.join());
    assert.equal(wrongArgumentsExitCode, 78);
  });

  test('are not checked outside a release folder', async () => {
    assert.equal(await checkArguments(join(folder, 'nowhere'), []), undefined);
  });

  test('that cannot be read are rejected', async () => {
    const path = join(folder, 'folder');
    await mkdir(join(path, 'arguments'), { recursive: true });
    assert.match((await checkArguments(path, [])) ?? '', /cannot be read/);
  });

  test('are read from the resolved folder of the code, not through the `current` symlink', async () => {
    const old = await release('old', ['--old']);
    await release('new', ['--new']);
    await symlink('new', join(folder, 'current'));
    await chmod(old, 0o755);
    assert.equal(await checkArguments(old, ['--old']), undefined);
    assert.notEqual(await checkArguments(join(folder, 'current'), ['--old']), undefined);
  });
});
