import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { type CopyCheckpoint, emptyCheckpoint, recoverAfterCrash, truncateRawOutput } from './copy-checkpoint.ts';

describe("tart's output that is in the log already", () => {
  let folder: string;
  let raw: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'tartan-cut-'));
    raw = join(folder, '0.raw');
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const written = (text: string): CopyCheckpoint => {
    writeFileSync(raw, text);
    return { ...emptyCheckpoint, raw: { file: 1, offset: text.length } };
  };
  const saved = async (copied: CopyCheckpoint, crashAt = Number.POSITIVE_INFINITY): Promise<CopyCheckpoint[]> => {
    const states: CopyCheckpoint[] = [];
    await truncateRawOutput(raw, copied, async (next) => {
      if (states.push(next) === crashAt) throw new Error('killed');
    }).catch((error: unknown) => assert.match(String(error), /killed/));
    return states;
  };

  test('is truncated, and its tail is kept', async () => {
    const states = await saved(written('first\nlast\n'));
    assert.equal(readFileSync(raw, 'utf8'), '');
    assert.deepEqual(states.at(-1), { ...emptyCheckpoint, raw: { file: 1, offset: 0 }, cutOff: 'first\nlast\n' });
  });

  test('is not truncated when it has uncopied bytes', async () => {
    const copied = written('first\n');
    appendFileSync(raw, 'half');
    assert.deepEqual(await saved(copied), []);
    assert.equal(readFileSync(raw, 'utf8'), 'first\nhalf');
  });

  test('an agent killed before the truncation continues after the copied bytes', async () => {
    const [state = emptyCheckpoint] = await saved(written('first\n'), 1);
    appendFileSync(raw, 'second\n');
    const next = await recoverAfterCrash(raw, state);
    assert.equal(next.raw.offset, 6);
    assert.equal(next.cutting, undefined);
  });

  test('an agent killed after the truncation starts at the beginning', async () => {
    for (const since of ['', 'x\n', 'much more than there was before\n']) {
      const [state = emptyCheckpoint] = await saved(written('first\n'));
      writeFileSync(raw, since);
      assert.equal((await recoverAfterCrash(raw, state)).raw.offset, 0, since);
    }
  });
});
