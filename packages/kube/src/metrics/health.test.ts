import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { systemClock as clock } from '../clock/clock.ts';
import { fired } from '../controller/fired.ts';
import type { BindAddress } from '../flags/types/network-types.ts';
import { createLogger } from '../logs/create-logger.ts';
import { createHealth, whileServing } from './health.ts';

const log = createLogger({ level: 'error', write: () => {}, clock });
const anywhere: BindAddress = { host: '127.0.0.1', port: 0 };
const healthAt = (healthAddress: BindAddress | undefined, metricsAddress: BindAddress | undefined) =>
  createHealth({
    options: { healthAddress, metricsAddress },
    metrics: { text: async () => ({ contentType: 'text/plain', body: 'up 1\n' }) },
    clock,
    log,
  });

const codeOf = async (address: Promise<{ port: number }> | undefined, path: string): Promise<number> => {
  const { port } = (await address) ?? { port: 0 };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
  await answer.text();
  return answer.status;
};

describe('probes and metrics', () => {
  test('are served apart, as long as the work goes on', async () => {
    const health = healthAt(anywhere, anywhere);
    const { probes, metrics } = health.addresses;
    const result = await whileServing(health, new AbortController().signal, async () => {
      assert.deepEqual([await codeOf(probes, '/healthz'), await codeOf(probes, '/metrics')], [200, 404]);
      assert.equal(await codeOf(metrics, '/metrics'), 200);
      return { ok: true };
    });
    assert.deepEqual(result, { ok: true });
    await assert.rejects(codeOf(probes, '/healthz'));
  });

  test('that are turned off hold nothing up', async () => {
    const health = healthAt(undefined, undefined);
    assert.deepEqual(health.addresses, { probes: undefined, metrics: undefined });
    const stop = AbortSignal.abort();
    const work = async (signal: AbortSignal) => {
      await fired(signal);
      return { ok: true } as const;
    };
    assert.deepEqual(await whileServing(health, stop, work), { ok: true });
  });

  test('that cannot listen end the work, and are why it failed', async () => {
    const first = healthAt(anywhere, undefined);
    await whileServing(first, new AbortController().signal, async () => {
      const { port } = (await first.addresses.probes) ?? { port: 0 };
      const second = healthAt({ ...anywhere, port }, anywhere);
      const result = await whileServing(second, new AbortController().signal, async (signal) => {
        await fired(signal);
        return { ok: true };
      });
      assert.ok(!result.ok && /cannot listen on 127\.0\.0\.1/.test(result.reason), JSON.stringify(result));
      return { ok: true };
    });
  });
});
