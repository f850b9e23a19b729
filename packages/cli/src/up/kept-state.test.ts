import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { portFor, readKeptState, writeKeptState } from './kept-state.ts';

describe('what the next start must know', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'tartan-kept-'));
  });
  after(() => rm(folder, { recursive: true, force: true }));

  test('nothing is known of a folder that nobody has used', async () => {
    assert.equal(await readKeptState(folder), undefined);
  });

  test('what was written is read', async () => {
    await writeKeptState(folder, { port: 6443, release: 3 });
    assert.deepEqual(await readKeptState(folder), { port: 6443, release: 3 });
  });

  for (const text of ['', '{', '[]', '{"port":0,"release":1}', '{"port":6443}'])
    test(`${JSON.stringify(text)} is refused with a sentence`, async () => {
      await writeFile(join(folder, 'state.json'), text);
      await assert.rejects(readKeptState(folder), /is not what tartan up has written.*Choose another folder/s);
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

  test('another port than the one that Macs know is refused', () => {
    assert.throws(() => portFor(kept, 7000, '/data'), /know its Kubernetes at port 6443/);
  });
});
