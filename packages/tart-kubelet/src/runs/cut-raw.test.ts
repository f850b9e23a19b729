import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type Copied, nothingCopied } from './copied.ts';
import { afterCrash, cutRaw } from './cut-raw.ts';

describe("tart's output that is in the log already", () => {
  let folder: string;
  let raw: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-cut-'));
    raw = join(folder, '0.raw');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const written = (text: string): Copied => {
    writeFileSync(raw, text);
    return { ...nothingCopied, raw: { file: 1, offset: text.length } };
  };
  const saved = async (copied: Copied, crashAt = Number.POSITIVE_INFINITY): Promise<Copied[]> => {
    const states: Copied[] = [];
    await cutRaw(raw, copied, async (next) => {
      if (states.push(next) === crashAt) throw new Error('killed');
    }).catch((error: unknown) => assert.match(String(error), /killed/));
    return states;
  };

  test('is cut, and its end is remembered', async () => {
    const states = await saved(written('first\nlast\n'));
    assert.equal(readFileSync(raw, 'utf8'), '');
    assert.deepEqual(states.at(-1), { ...nothingCopied, raw: { file: 1, offset: 0 }, cutOff: 'first\nlast\n' });
  });

  test('is left alone when there is more of it than was copied', async () => {
    const copied = written('first\n');
    appendFileSync(raw, 'half');
    assert.deepEqual(await saved(copied), []);
    assert.equal(readFileSync(raw, 'utf8'), 'first\nhalf');
  });

  test('an agent killed before the cut goes on behind what it copied', async () => {
    const [state = nothingCopied] = await saved(written('first\n'), 1);
    appendFileSync(raw, 'second\n');
    const next = await afterCrash(raw, state);
    assert.equal(next.raw.offset, 6);
    assert.equal(next.cutting, undefined);
  });

  test('an agent killed after the cut begins anew, however much was written since', async () => {
    for (const since of ['', 'x\n', 'much more than there was before\n']) {
      const [state = nothingCopied] = await saved(written('first\n'));
      writeFileSync(raw, since);
      assert.equal((await afterCrash(raw, state)).raw.offset, 0, since);
    }
  });
});
