import assert from 'node:assert/strict';
import { test } from 'node:test';
import { scriptedTransport } from '../client/testing/scripted-transport.ts';
import { manualClock } from '../clock/manual-clock.ts';
import { settle } from '../clock/testing/real-time.ts';
import { recordedLog } from '../informer/testing/recorded-log.ts';
import { createMetrics } from '../metrics/metrics.ts';
import { configMaps } from '../objects/builtin.ts';
import { assembleManager } from './manager-program.ts';

test('controllers share the limits of the process, and leader election never waits for them', async () => {
  const clock = manualClock();
  const transport = scriptedTransport(({ method, body = '' }) => {
    if (method === 'GET')
      return { code: 404, body: { kind: 'Status', reason: 'NotFound', message: 'gone', code: 404 } };
    const lease: unknown = JSON.parse(body);
    const metadata = { name: 'lease', namespace: 'n', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
    return { code: 201, body: { ...Object(lease), metadata } };
  });
  const metrics = createMetrics({ clock });
  const manager = assembleManager(
    {
      options: {
        kubeconfigPath: undefined,
        metricsAddress: undefined,
        healthAddress: undefined,
        leaderElection: {
          namespace: 'n',
          durations: { leaseMs: 15_000, renewDeadlineMs: 10_000, retryPeriodMs: 2_000 },
        },
        requestLimits: { qps: 1, burst: 1, maxInFlight: 1 },
        log: { level: 'error', pretty: false },
      },
      transport,
      apiHost: 'api',
      clock,
      random: () => 0,
      log: recordedLog().log,
      identity: 'me',
    },
    metrics,
    { component: 'test', lease: 'lease' },
  );
  const sent = (kind: string): number => transport.seen.filter(({ path }) => path.includes(kind)).length;
  for (const flow of ['machine', 'sweep'])
    manager
      .clientFor(flow)
      .get(configMaps, { namespace: 'n', name: 'a' })
      .catch(() => {});
  await settle();
  assert.equal(sent('configmaps'), 1);

  const stop = new AbortController();
  const running = manager.manage({ caches: {} }, stop.signal);
  await settle();
  assert.ok(manager.isLeading());
  assert.equal(sent('leases'), 2);
  assert.equal(sent('configmaps'), 1);
  clock.advance(1000);
  await settle();
  assert.equal(sent('configmaps'), 2);
  const waited = /^rest_client_rate_limiter_duration_seconds_(?:sum|count).*$/gm;
  assert.deepEqual((await metrics.text()).body.match(waited), [
    'rest_client_rate_limiter_duration_seconds_sum{verb="GET",host="api"} 1',
    'rest_client_rate_limiter_duration_seconds_count{verb="GET",host="api"} 2',
  ]);
  stop.abort();
  await settle();
  clock.advance(30_000);
  await running;
});
