import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import fc from 'fast-check';
import { parseJson } from '../parse-json.ts';
import { createJournal, recordSchema, type VmRecord } from './journal.ts';
import { readOwnershipMarker, vmNameOf, writeOwnershipMarker } from './vm-identity.ts';

const example: VmRecord = {
  version: 1,
  vm: 'ns-a-u1',
  pod: { uid: 'u1', namespace: 'ns', name: 'a' },
  image: { reference: 'ghcr.io/a/b:1', digest: 'sha256:1' },
  createdAt: 1000,
  run: 0,
  state: { kind: 'running', process: { pid: 7, startedAt: 2000 }, since: 2000 },
};

describe('the journal', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'journal-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  it('returns what was written, also to another process, until it is removed', async () => {
    await createJournal(join(folder, 'new')).write(example);
    const other = createJournal(join(folder, 'new'));
    assert.deepEqual(await other.list(), { uids: ['u1'], records: [example], problems: [] });
    await other.write({ ...example, run: 1 });
    assert.deepEqual(await other.read('u1'), { ...example, run: 1 });
    await other.remove('u1');
    await other.remove('u1');
    assert.equal(await other.read('u1'), undefined);
    assert.deepEqual(await readdir(join(folder, 'new')), []);
  });

  it('is empty when its folder does not exist', async () => {
    const journal = createJournal(join(folder, 'none'));
    assert.deepEqual(await journal.list(), { uids: [], records: [], problems: [] });
    await journal.remove('u1');
  });

  it('rejects when it cannot be listed', async () => {
    await writeFile(join(folder, 'file'), '');
    await assert.rejects(createJournal(join(folder, 'file')).list(), /ENOTDIR/);
  });

  const torn: [string, (path: string) => Promise<unknown>][] = [
    ['torn', (path) => writeFile(path, JSON.stringify(example).slice(0, 40))],
    ['empty', (path) => writeFile(path, '')],
    ['of another version', (path) => writeFile(path, JSON.stringify({ ...example, version: 2 }))],
    [
      'about another Pod',
      (path) => writeFile(path, JSON.stringify({ ...example, pod: { ...example.pod, uid: 'u2' } })),
    ],
    ['far too long', (path) => writeFile(path, JSON.stringify(example) + ' '.repeat(300_000))],
    [
      'a link',
      async (path) => {
        await writeFile(`${path}-real`, JSON.stringify(example));
        await symlink(`${path}-real`, path);
      },
    ],
    ['a FIFO without a writer', async (path) => void execFileSync('mkfifo', [path])],
  ];
  for (const [what, make] of torn)
    it(`reports a file that is ${what}, and the others are read`, async () => {
      const journal = createJournal(folder);
      await make(join(folder, 'u1.json'));
      await journal.write({ ...example, pod: { ...example.pod, uid: 'u9' } });
      const { problems, records, uids } = await journal.list();
      assert.deepEqual([...uids].sort(), ['u1', 'u9']);
      assert.deepEqual([records.map(({ pod }) => pod.uid), problems.length], [['u9'], 1]);
      assert.match(problems[0] ?? '', /u1\.json cannot be read: /);
      assert.equal(await journal.read('u1'), 'unreadable');
    });

  it('ignores temporary files of a crash, and removes them with the UID', async () => {
    const journal = createJournal(folder);
    await journal.write(example);
    await writeFile(join(folder, 'u1.json.tmp-1'), '{');
    await writeFile(join(folder, 'notes.txt'), '');
    assert.deepEqual((await journal.list()).uids, ['u1']);
    await journal.remove('u1');
    assert.deepEqual(await readdir(folder), ['notes.txt']);
  });

  it('reads a file again when another process has changed it', async () => {
    const journal = createJournal(folder);
    await journal.write(example);
    assert.deepEqual(await journal.read('u1'), example);
    await createJournal(folder).write({ ...example, run: 1 });
    assert.deepEqual(await journal.read('u1'), { ...example, run: 1 });
    await writeFile(join(folder, 'u1.json'), '{');
    assert.equal(await journal.read('u1'), 'unreadable');
    await rm(join(folder, 'u1.json'));
    assert.equal(await journal.read('u1'), undefined);
    await journal.write({ ...example, run: 2 });
    assert.deepEqual((await journal.list()).records, [{ ...example, run: 2 }]);
  });

  it('keeps the old record when a write fails', async () => {
    const journal = createJournal(folder);
    execFileSync('mkdir', ['-p', join(folder, 'u1.json', 'x')]);
    await assert.rejects(journal.write(example));
    assert.deepEqual(await readdir(folder), ['u1.json']);
  });

  it('rejects an invalid UID', async () => {
    const journal = createJournal(folder);
    await assert.rejects(journal.read('../x'), /no UID/);
    await assert.rejects(journal.remove('a/b'), /no UID/);
  });

  it('the ownership marker names the VM; a copy under another name is not owned', async () => {
    const mark = { version: 1, agent: 'mac-1', podUID: 'u1', vm: 'ns-a-u1' } as const;
    assert.equal(await readOwnershipMarker(folder, 'ns-a-u1'), undefined);
    await writeOwnershipMarker(folder, mark);
    assert.deepEqual(await readOwnershipMarker(folder, 'ns-a-u1'), mark);
    assert.equal(await readOwnershipMarker(folder, 'copy'), undefined);
    const base = { version: 1, agent: 'mac-1', goldenOf: `ghcr.io/a/b@sha256:${'a'.repeat(64)}`, vm: 'base' } as const;
    await writeOwnershipMarker(folder, base);
    assert.deepEqual(await readOwnershipMarker(folder, 'base'), base);
    await writeFile(join(folder, 'tartan.json'), '{"version":');
    assert.equal(await readOwnershipMarker(folder, 'ns-a-u1'), undefined);
  });
});

describe('a record', () => {
  it('parsing never throws', () => {
    fc.assert(fc.property(fc.oneof(fc.string(), fc.json()), (text) => parseJson(recordSchema, text) === undefined));
  });

  it('a truncated record is not parsed', () => {
    const text = JSON.stringify(example).trimEnd();
    for (let end = 0; end < text.length; end += 1) assert.equal(parseJson(recordSchema, text.slice(0, end)), undefined);
  });
});

describe('the name of a virtual machine', () => {
  const uid = 'b3b0c2f4-7d57-4a3c-9f0e-6b6f6f9a5a01';
  it('contains the name of the Pod, and differs for a later Pod of the same name (INC-407)', () => {
    assert.equal(vmNameOf({ uid, namespace: 'runners', name: 'mac.1' }), `runners-mac-1-${uid}`);
  });
  it('is unique for long names: it contains the whole UID (INC-25)', () => {
    const name = vmNameOf({ uid, namespace: 'n'.repeat(63), name: 'p'.repeat(253) }) ?? assert.fail();
    assert.equal(name.length, 100);
    assert.ok(name.endsWith(`-${uid}`));
  });
  it('is undefined for an invalid UID', () => {
    for (const bad of ['', '../x', '-a', 'a/b'])
      assert.equal(vmNameOf({ uid: bad, namespace: 'n', name: 'p' }), undefined);
  });
  it('is always valid for tart', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (namespace, name) =>
        /^[A-Za-z0-9_.][A-Za-z0-9_.:@-]*$/.test(vmNameOf({ uid, namespace, name }) ?? ''),
      ),
    );
  });
});
