import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { recordedLog } from '../identity/testing/recorded-log.ts';
import type { RefusedStart } from './evidence.ts';
import { createStarts } from './starts.ts';

const refusal: RefusedStart = { reason: 'other', message: 'no', image: 'a', running: 0 };

const setStage = async (t: TestContext) => {
  const folder = await mkdtemp(join(tmpdir(), 'starts-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { log, lines } = recordedLog();
  const clock = manualClock();
  const agent = (bootID: string | Error, file = join(folder, 'state', 'vm-starts.json')) => {
    let changes = 0;
    const starts = createStarts({
      file,
      bootID: async () => {
        if (typeof bootID === 'string') return bootID;
        throw bootID;
      },
      vmSlots: 2,
      changed: () => void (changes += 1),
      clock,
      log,
    });
    return { ...starts, kind: async () => (await starts.verdict()).kind, changes: () => changes };
  };
  return { agent, folder, lines };
};

describe('what became of starts', () => {
  it('is counted once each, however many come at a time, and a new verdict is told once', async (t) => {
    const { agent } = await setStage(t);
    const starts = agent('boot-1');
    await Promise.all([starts.refused(refusal), starts.refused(refusal)]);
    assert.deepEqual([await starts.kind(), starts.changes()], ['works', 0]);
    await starts.refused(refusal);
    await starts.refused(refusal);
    assert.deepEqual([await starts.kind(), starts.changes()], ['refused', 1]);
    await starts.worked({ image: 'a', running: 1 });
    assert.deepEqual([await starts.kind(), starts.changes()], ['works', 2]);
  });

  it('is known to the next agent, until the Mac boots', async (t) => {
    const { agent } = await setStage(t);
    const first = agent('boot-1');
    for (let times = 0; times < 3; times += 1) await first.refused(refusal);
    assert.equal(await agent('boot-1').kind(), 'refused');
    assert.equal(await agent('boot-2').kind(), 'works');
  });

  it('is taken over from nobody while the boot is not known', async (t) => {
    const { agent } = await setStage(t);
    const first = agent('');
    for (let times = 0; times < 3; times += 1) await first.refused(refusal);
    assert.equal(await first.kind(), 'refused');
    assert.equal(await agent('').kind(), 'works');
    assert.equal(await agent(new Error('sysctl failed')).kind(), 'works');
  });

  it('is counted also where it cannot be written down', async (t) => {
    const { agent, folder, lines } = await setStage(t);
    await writeFile(join(folder, 'file'), '');
    const starts = agent('boot-1', join(folder, 'file', 'vm-starts.json'));
    for (let times = 0; times < 3; times += 1) await starts.refused(refusal);
    assert.equal(await starts.kind(), 'refused');
    assert.ok(lines.some((line) => line.includes('could not be written down')));
  });
});
