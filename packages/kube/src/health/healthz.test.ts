import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../clock/manual-clock.ts';
import { handleProbe, type HealthCheck, type ProbeResponse } from './healthz.ts';

const clock = manualClock(0);
const checks = (entries: Record<string, HealthCheck> = {}): Map<string, HealthCheck> =>
  new Map(Object.entries(entries));
const fine: HealthCheck = () => undefined;

const ask = (url: string, readyz = checks(), method = 'GET'): Promise<ProbeResponse> =>
  handleProbe({ readyz, clock, metrics: async () => ({ contentType: 'text/plain', body: 'up 1\n' }) }, { method, url });

test('without checks the probe succeeds', async () => {
  assert.deepEqual(await ask('/healthz'), { code: 200, contentType: 'text/plain; charset=utf-8', body: 'ok' });
  assert.equal((await ask('/readyz/')).body, 'ok');
});

test('a failing check returns 500 and lists failed and passed checks', async () => {
  const { code, body } = await ask('/readyz', checks({ zebra: fine, ape: async () => 'no bananas\nat all' }));
  assert.equal(code, 500);
  assert.equal(body, '[-]ape failed: no bananas at all\n[+]zebra ok\nreadyz check failed\n');
});

test('a check that throws fails', async () => {
  const thrower: HealthCheck = () => {
    throw new Error('broken check');
  };
  const rejecter: HealthCheck = async () => {
    throw new Error('broken, too');
  };
  const { code, body } = await ask('/readyz', checks({ thrower, rejecter }));
  assert.equal(code, 500);
  assert.match(body, /thrower failed: broken check/);
  assert.match(body, /rejecter failed: broken, too/);
});

test('a check that hangs fails after a timeout', async () => {
  const answer = ask('/readyz', checks({ slow: () => new Promise(() => {}) }));
  clock.advance(800);
  assert.match((await answer).body, /slow failed: no answer within 800 ms/);
});

test('verbose lists the checks also when all pass', async () => {
  const { code, body } = await ask('/readyz?verbose', checks({ a: fine }));
  assert.equal(code, 200);
  assert.equal(body, '[+]a ok\nreadyz check passed\n');
});

test('a check can be excluded, or requested alone', async () => {
  const two = checks({ bad: () => 'no', good: fine });
  assert.equal((await ask('/readyz?exclude=bad', two)).code, 200);
  assert.match((await ask('/readyz?exclude=bad&verbose', two)).body, /\[\+\]bad excluded: ok/);
  assert.equal((await ask('/readyz/good', two)).code, 200);
  assert.equal((await ask('/readyz/bad', two)).code, 500);
  assert.equal((await ask('/readyz/ugly', two)).code, 404);
});

test('metrics are served unchanged, and a failure to collect them is a 500', async () => {
  assert.deepEqual(await ask('/metrics'), { code: 200, contentType: 'text/plain', body: 'up 1\n' });
  const broken = { readyz: checks(), clock, metrics: () => Promise.reject(new Error('torn')) };
  assert.equal((await handleProbe(broken, { method: 'GET', url: '/metrics' })).code, 500);
  const none = { readyz: checks(), clock };
  assert.equal((await handleProbe(none, { method: 'GET', url: '/metrics' })).code, 404);
});

test('any other path returns 404', async () => {
  for (const url of ['/', '/healthz/a', '/readyz/a', '/metrics/x', '//', 'http://['])
    assert.equal((await ask(url)).code, 404, url);
  assert.equal((await ask('/healthz', checks(), 'POST')).code, 405);
});
