import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createPower, type Power } from './power.ts';

/** Power that records its actions. A restart lasts until `isBack`. */
const noted = (boots: () => Promise<void> = async () => {}): { power: Power; did: string[]; isBack: () => void } => {
  const did: string[] = [];
  let isBack = (): void => {};
  const power = createPower({
    boot: async () => {
      did.push('boot');
      await boots();
    },
    shutDown: async () => void did.push('shutdown'),
    waitWhileDown: (signal) =>
      new Promise((resolve) => {
        isBack = resolve;
        did.push('away');
        if (signal.aborted) resolve();
        else signal.addEventListener('abort', () => resolve(), { once: true });
      }),
  });
  return { power, did, isBack: () => isBack() };
};

const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));

describe('power', () => {
  test('applies changes one after the other', async () => {
    const { power, did, isBack } = noted();
    await power.on();
    const restarted = power.restart(() => did.push('meanwhile'));
    const work = power.runExclusive(async () => void did.push('work'));
    await turn();
    assert.deepEqual(did, ['boot', 'shutdown', 'meanwhile', 'away']);
    isBack();
    await Promise.all([restarted, work]);
    assert.deepEqual(did.slice(4), ['boot', 'work']);
  });

  test('cut during a restart stays off, and the restart rejects', async () => {
    const { power, did } = noted();
    await power.on();
    const restarted = assert.rejects(
      power.restart(() => {}),
      /the power of this Mac was cut/,
    );
    const queued = assert.rejects(
      power.restart(() => did.push('queued')),
      /the power of this Mac was cut/,
    );
    await turn();
    await power.off();
    await Promise.all([restarted, queued]);
    assert.deepEqual([did, power.isOn()], [['boot', 'shutdown', 'away'], false]);
    await power.on();
    assert.equal(power.isOn(), true);
  });

  test('does not change after end, and a pending restart resolves', async () => {
    const { power, did } = noted();
    await power.on();
    const restarted = power.restart(() => {});
    await turn();
    await power.end();
    await restarted;
    await Promise.all([power.on(), power.restart(() => {}), power.reinstall(() => {}), power.end()]);
    assert.deepEqual(did, ['boot', 'shutdown', 'away']);
  });

  test('cleans up a failed boot, which can be retried', async () => {
    let fails = true;
    const { power, did } = noted(async () => {
      if (fails) throw new Error('no boot');
    });
    await assert.rejects(power.on(), /no boot/);
    assert.deepEqual([did, power.isOn()], [['boot', 'shutdown'], false]);
    fails = false;
    await power.on();
    assert.equal(power.isOn(), true);
  });
});
