import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRunningPushes } from './running-pushes.ts';

const untilEnded = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    const end = (): void => resolve('ended');
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
  });

describe('a running push', () => {
  it('is cancelled when its own machine is deleted, not when another one is', async () => {
    const pushes = createRunningPushes();
    const push = pushes.run('a', new AbortController().signal, untilEnded);
    pushes.cancel('b');
    pushes.cancel('a');
    assert.equal(await push, 'ended');
  });

  it('is cancelled at once when its machine is already being deleted', async () => {
    const pushes = createRunningPushes();
    pushes.cancel('a');
    assert.equal(await pushes.run('a', new AbortController().signal, untilEnded), 'ended');
  });

  it('is cancelled when the process stops', async () => {
    const process = new AbortController();
    const push = createRunningPushes().run('a', process.signal, untilEnded);
    process.abort();
    assert.equal(await push, 'ended');
  });
});
