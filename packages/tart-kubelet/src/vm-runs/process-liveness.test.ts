import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { HostProcess } from '@tartan/tart';
import { processExists, throttledFind } from './process-liveness.ts';

describe('the liveness check of an adopted process', () => {
  const one: HostProcess = { pid: 7, startedAt: 1000, command: 'tart run vm' };
  const setUp = () => {
    const system = { exists: true, asked: 0, find: async (): Promise<HostProcess | undefined> => one };
    const find = () => {
      system.asked += 1;
      return system.find();
    };
    return { system, find: throttledFind(find, () => system.exists) };
  };

  test('runs ps for one check in ten', async () => {
    const { system, find } = setUp();
    for (let count = 0; count < 20; count++) assert.equal(await find(7), one);
    assert.equal(system.asked, 2);
  });

  test('sees at once that the process is gone', async () => {
    const { system, find } = setUp();
    await find(7);
    system.exists = false;
    assert.equal(await find(7), undefined);
  });

  test('detects a reused PID', async () => {
    const { system, find } = setUp();
    await find(7);
    system.find = async () => undefined;
    let count = 0;
    while (count < 20 && (await find(7)) !== undefined) count += 1;
    assert.ok(count <= 10);
  });

  test('runs ps again after a failure', async () => {
    const { system, find } = setUp();
    system.find = () => Promise.reject(new Error('no ps'));
    await assert.rejects(find(7));
    system.find = async () => one;
    assert.equal(await find(7), one);
  });

  test('processExists is true for this process and false for an unused PID', () => {
    assert.equal(processExists(process.pid), true);
    assert.equal(processExists(2 ** 30), false);
  });
});
