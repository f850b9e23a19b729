import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Registry } from 'prom-client';
import { createScalewayMetrics, createScalewayWaitMetrics } from './provider-metrics.ts';

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

test('waits for the rate limit of Scaleway are measured, and requests that were not sent are counted', async () => {
  const registry = new Registry();
  const waited = createScalewayWaitMetrics(registry);
  const series = async () =>
    (await registry.metrics())
      .split('\n')
      .filter((line) => /^scaleway_api_\w+(_sum|_count|_total)\{operation="rename"/.test(line));
  assert.deepEqual(await series(), ['scaleway_api_requests_not_sent_total{operation="rename"} 0']);
  waited({ operation: 'rename', milliseconds: 1500, isSent: true });
  waited({ operation: 'rename', milliseconds: 500, isSent: false });
  assert.deepEqual(await series(), [
    'scaleway_api_rate_limiter_duration_seconds_sum{operation="rename"} 2',
    'scaleway_api_rate_limiter_duration_seconds_count{operation="rename"} 2',
    'scaleway_api_requests_not_sent_total{operation="rename"} 1',
  ]);
});
