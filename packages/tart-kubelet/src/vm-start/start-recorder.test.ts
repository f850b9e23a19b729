import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { createRecordingLogger } from '../identity/testing/recording-logger.ts';
import type { RefusedStart } from './start-health.ts';
import { createStartRecorder } from './start-recorder.ts';

const refusal: RefusedStart = { reason: 'other', message: 'no', image: 'a', running: 0 };

const createHarness = async (t: TestContext) => {
  const folder = await mkdtemp(join(tmpdir(), 'starts-'));
  t.after(() => rm(folder, { recursive: true, force: true }));
  const { log, lines } = createRecordingLogger();
  const clock = manualClock();
  const agent = (bootID: string | Error, file = join(folder, 'state', 'vm-starts.json')) => {
    let changes = 0;
    const starts = createStartRecorder({
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
    return { ...starts, kind: async () => (await starts.health()).kind, changes: () => changes };
  };
  return { agent, folder, lines };
};

describe('the start recorder', () => {
  it('counts concurrent starts once each, and notifies once per change of health', async (t) => {
    const { agent } = await createHarness(t);
    const starts = agent('boot-1');
    await Promise.all([starts.recordRefusal(refusal), starts.recordRefusal(refusal)]);
    assert.deepEqual([await starts.kind(), starts.changes()], ['works', 0]);
    await starts.recordRefusal(refusal);
    await starts.recordRefusal(refusal);
    assert.deepEqual([await starts.kind(), starts.changes()], ['refused', 1]);
    await starts.recordSuccess({ image: 'a', running: 1 });
    assert.deepEqual([await starts.kind(), starts.changes()], ['works', 2]);
  });

  it('keeps its history for the next agent, until the Mac reboots', async (t) => {
    const { agent } = await createHarness(t);
    const first = agent('boot-1');
    for (let times = 0; times < 3; times += 1) await first.recordRefusal(refusal);
    assert.equal(await agent('boot-1').kind(), 'refused');
    assert.equal(await agent('boot-2').kind(), 'works');
  });

  it('ignores stored history while the boot ID is unknown', async (t) => {
    const { agent } = await createHarness(t);
    const first = agent('');
    for (let times = 0; times < 3; times += 1) await first.recordRefusal(refusal);
    assert.equal(await first.kind(), 'refused');
    assert.equal(await agent('').kind(), 'works');
    assert.equal(await agent(new Error('sysctl failed')).kind(), 'works');
  });

  it('counts also when the file cannot be written', async (t) => {
    const { agent, folder, lines } = await createHarness(t);
    await writeFile(join(folder, 'file'), '');
    const starts = agent('boot-1', join(folder, 'file', 'vm-starts.json'));
    for (let times = 0; times < 3; times += 1) await starts.recordRefusal(refusal);
    assert.equal(await starts.kind(), 'refused');
    assert.ok(lines.some((line) => line.includes('could not be written down')));
  });
});
