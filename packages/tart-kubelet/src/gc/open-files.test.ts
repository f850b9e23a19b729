import assert from 'node:assert/strict';
import { closeSync, mkdirSync, mkdtempSync, openSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { runToEnd } from '../facts/run-command.ts';
import { createOpenFiles, parseOpenPaths } from './open-files.ts';

const { signal } = new AbortController();

describe('open files of a VM', () => {
  let home: string;
  beforeEach(() => {
    home = realpathSync(mkdtempSync(join(tmpdir(), 'tartan-open-')));
    for (const name of ['x', 'x-2']) {
      mkdirSync(join(home, 'vms', name), { recursive: true });
      writeFileSync(join(home, 'vms', name, 'disk.img'), '');
    }
  });
  afterEach(() => rmSync(home, { recursive: true, force: true }));
  const answering = (answer: Partial<Awaited<ReturnType<typeof runToEnd>>> | Error) =>
    createOpenFiles({
      tartHome: home,
      run: async () => {
        if (answer instanceof Error) throw answer;
        return { code: 0, stdout: '', stderr: '', ...answer };
      },
    });
  const openFilesOf = async (answer: Parameters<typeof answering>[0], names = ['x', 'x-2', 'missing']) => [
    ...(await answering(answer).check(names, signal)),
  ];
  const closed = [
    ['x', 'closed'],
    ['x-2', 'closed'],
  ];

  test('a file below its folder is open, also one that lsof calls deleted; x is not open because x-2 is (INC-51)', async () => {
    const one = [
      ['x', 'closed'],
      ['x-2', 'open'],
    ];
    assert.deepEqual(await openFilesOf({ code: 1, stdout: `p12\nf8\nn${home}/vms/x-2/disk.img\n` }), one);
    assert.deepEqual(await openFilesOf({ stdout: `p12\nf8\nn${home}/vms/x-2/disk.img (deleted)\n` }), one);
    assert.deepEqual(await openFilesOf({ stdout: `p12\nfcwd\nn${home}/vms/x-2\n` }), one);
  });

  test('exit code 1 without output: all files are closed', async () => {
    assert.deepEqual(await openFilesOf({ code: 1 }), closed);
    assert.deepEqual(await openFilesOf({ code: 1 }, ['missing']), []);
  });

  test('unexpected output of lsof means unknown (B6)', async () => {
    for (const answer of [
      new Error('no lsof'),
      { code: 2 },
      { code: 1, stderr: 'lsof: status error on x' },
      { stdout: 'lsof 4.91\n' },
      { stdout: `n${home}/vms/x/disk.img\n` },
      { stdout: `p12\nn/another/way/to/x/disk.img\n` },
    ])
      assert.deepEqual(await openFilesOf(answer), [], JSON.stringify(answer));
    assert.equal(parseOpenPaths('\0'), undefined);
    assert.deepEqual(parseOpenPaths(''), []);
  });

  test('the real lsof reports an open file', async (context) => {
    const has = await runToEnd('lsof', ['-v'], signal, 10_000).then(
      () => true,
      () => false,
    );
    if (!has) return context.skip('no lsof here');
    const file = openSync(join(home, 'vms', 'x', 'disk.img'), 'r');
    try {
      const answers = await createOpenFiles({ tartHome: home }).check(['x', 'x-2'], signal);
      assert.deepEqual(
        [...answers],
        [
          ['x', 'open'],
          ['x-2', 'closed'],
        ],
      );
    } finally {
      closeSync(file);
    }
  });
});
