import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createScalewayMetrics } from './provider-metrics.ts';

test('outcomes that need a person have a series at zero from the start', async () => {
  const registry = new Registry();
  const called = createScalewayMetrics(registry);
  const series = async (outcome: string) =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => line.startsWith(`scaleway_api_requests_total{operation="rename",outcome="${outcome}"`));
  assert.deepEqual(await series('denied'), ['scaleway_api_requests_total{operation="rename",outcome="denied"} 0']);
  assert.deepEqual(await series('unauthorized'), [
    'scaleway_api_requests_total{operation="rename",outcome="unauthorized"} 0',
  ]);
  assert.deepEqual(await series('rate_limited'), []);
  called({ operation: 'rename', outcome: 'denied', milliseconds: 5 });
  called({ operation: 'rename', outcome: 'rate limited', milliseconds: 5 });
  assert.deepEqual(await series('denied'), ['scaleway_api_requests_total{operation="rename",outcome="denied"} 1']);
  assert.deepEqual(await series('rate_limited'), [
    'scaleway_api_requests_total{operation="rename",outcome="rate_limited"} 1',
  ]);
});
