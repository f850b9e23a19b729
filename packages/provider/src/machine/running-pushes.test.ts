import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createRunningPushes } from './running-pushes.ts';

const untilEnded = (signal: AbortSignal): Promise<string> =>
  new Promise((resolve) => {
    const end = (): void => resolve('ended');
    if (signal.aborted) return end();
    signal.addEventListener('abort', end, { once: true });
  });

describe('a push', () => {
  it('ends with its machine, and with nobody else’s', async () => {
    const pushes = createRunningPushes();
    const push = pushes.run('a', new AbortController().signal, untilEnded);
    pushes.end('b');
    pushes.end('a');
    assert.equal(await push, 'ended');
  });

  it('of a machine that is being deleted already ends at once', async () => {
    const pushes = createRunningPushes();
    pushes.end('a');
    assert.equal(await pushes.run('a', new AbortController().signal, untilEnded), 'ended');
  });

  it('ends with the process', async () => {
    const process = new AbortController();
    const push = createRunningPushes().run('a', process.signal, untilEnded);
    process.abort();
    assert.equal(await push, 'ended');
  });
});
