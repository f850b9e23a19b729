import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { CollectorOptions } from './collector.ts';
import { runToEnd } from '../facts/run-command.ts';
import { createOpenFiles } from './open-files.ts';
import { createHarness, type Harness } from './testing/harness.ts';

const interval = 5 * 60_000;
const bake = 'tuist-runner';

/** The push of a bake takes longer than the interval of the collector beside it, and opens nvram.bin last (INC-46). */
describe('a bake whose push takes longer than the interval', () => {
  let harness: Harness;
  beforeEach(() => {
    harness = createHarness();
    harness.fake.addVm(bake);
    harness.fake.controls.host({ pushHeld: true });
  });
  afterEach(() => harness.remove());

  /** Sees no process. */
  const blind: Partial<CollectorOptions> = { processes: { list: async () => [], find: async () => undefined } };

  /** Pushes; two intervals pass while the disk is being sent. Returns the exit code and the output. */
  const pushBeside = async (options: Partial<CollectorOptions> | 'no collector'): Promise<string> => {
    const push = spawn(harness.fake.path, ['push', bake, 'ghcr.io/team/runner:1'], { env: harness.environment });
    const ended = once(push, 'close');
    let said = '';
    const atDisk = Promise.withResolvers<void>();
    for (const stream of [push.stdout, push.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (said.includes('pushing disk')) atDisk.resolve();
      });
    await atDisk.promise;
    if (options !== 'no collector') {
      const end = new AbortController();
      const collector = harness.collector(options);
      const running = collector.run(end.signal);
      await collector.collect();
      harness.clock.advance(interval);
      await collector.collect();
      end.abort();
      await running;
    }
    harness.fake.controls.host({ pushHeld: undefined });
    const [code] = await ended;
    return `${code} ${said}`;
  };
  const isWhole = async (): Promise<void> => assert.deepEqual(await harness.names(), [bake]);

  test('survives because the agent does not own it (B5)', async () => {
    assert.match(await pushBeside(blind), /^0 /);
    await isWhole();
    assert.equal(harness.fake.journal.calls('delete').length, 0);
  });

  test('survives a wrong journal because its files are open (B6)', async (context) => {
    const has = await runToEnd('lsof', ['-v'], new AbortController().signal, 10_000).catch(() => undefined);
    if (has === undefined) return context.skip('no lsof here');
    harness.ours.add(bake);
    assert.match(await pushBeside({ ...blind, openFiles: createOpenFiles({ tartHome: harness.fake.home }) }), /^0 /);
    await isWhole();
  });

  test('survives a wrong journal because a tart process uses it (B6)', async () => {
    harness.ours.add(bake);
    assert.match(await pushBeside({}), /^0 /);
    await isWhole();
  });

  test('survives with --disable-vm-gc: there is no collector (B3)', async () => {
    harness.ours.add(bake);
    assert.match(await pushBeside('no collector'), /^0 /);
    await isWhole();
  });

  test('fails at its NVRAM without these guards', async () => {
    harness.ours.add(bake);
    assert.match(await pushBeside(blind), /^1 [\s\S]*nvram\.bin” doesn’t exist/);
  });
});
