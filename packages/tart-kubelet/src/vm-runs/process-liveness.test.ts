import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HostProcess } from '@tartan/tart';
import { processExists, throttledFind } from './process-liveness.ts';

describe('the liveness check of an adopted process', () => {
  const one: HostProcess = { pid: 7, startedAt: 1000, command: 'tart run vm' };
  const playing = () => {
    const world = { exists: true, asked: 0, find: async (): Promise<HostProcess | undefined> => one };
    const find = () => {
      world.asked += 1;
      return world.find();
    };
    return { world, seldom: throttledFind(find, () => world.exists) };
  };

  test('runs ps for one check in ten', async () => {
    const { world, seldom } = playing();
    for (let look = 0; look < 20; look++) assert.equal(await seldom(7), one);
    assert.equal(world.asked, 2);
  });

  test('sees at once that the process is gone', async () => {
    const { world, seldom } = playing();
    await seldom(7);
    world.exists = false;
    assert.equal(await seldom(7), undefined);
  });

  test('detects a reused PID', async () => {
    const { world, seldom } = playing();
    await seldom(7);
    world.find = async () => undefined;
    let looks = 0;
    while (looks < 20 && (await seldom(7)) !== undefined) looks += 1;
    assert.ok(looks <= 10);
  });

  test('runs ps again after a failure', async () => {
    const { world, seldom } = playing();
    world.find = () => Promise.reject(new Error('no ps'));
    await assert.rejects(seldom(7));
    world.find = async () => one;
    assert.equal(await seldom(7), one);
  });

  test('processExists is true for this process and false for an unused PID', () => {
    assert.equal(processExists(process.pid), true);
    assert.equal(processExists(2 ** 30), false);
  });
});
