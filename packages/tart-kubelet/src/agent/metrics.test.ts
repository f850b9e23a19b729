import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import type { Validity } from '../certificates/x509.ts';
import { createAgentMetrics } from './metrics.ts';

const pod = (pool?: string) => ({
  apiVersion: 'v1' as const,
  kind: 'Pod' as const,
  metadata: { name: 'a', ...(pool === undefined ? {} : { labels: { 'tuist.dev/runner-pool': pool } }) },
});

const createHarness = () => {
  const clock = manualClock();
  const state: { waitingSince: number | undefined; pulls: number; client: Validity | undefined } = {
    waitingSince: undefined,
    pulls: 0,
    client: undefined,
  };
  const metrics = createAgentMetrics({
    clock,
    oldestWaitingSince: () => state.waitingSince,
    pullsInProgress: () => state.pulls,
    certificates: () => ({ client: state.client, serving: undefined }),
  });
  const lines = async (): Promise<string[]> => (await metrics.text()).body.split('\n');
  const has = async (...wanted: string[]): Promise<void> => {
    const all = await lines();
    for (const line of wanted) assert.ok(all.includes(line), `no ${line} in\n${all.join('\n')}`);
  };
  return { clock, state, metrics, lines, has };
};

describe('the metrics of the agent', () => {
  test('Pod start durations by pool', async () => {
    const { metrics, has } = createHarness();
    metrics.pods.provisioned(pod('xcode'), 'pulled', 450_000);
    metrics.pods.provisioned(pod('xcode'), 'cloned', 9_000);
    metrics.pods.provisioned(pod(), 'warm', 900);
    metrics.pods.starting(pod('xcode'), 4 * 3_600_000);
    metrics.pods.starting(pod('xcode'), 3_000_000);
    metrics.pods.booted(pod('xcode'), 7_500);
    metrics.pods.booted(pod('xcode'), -5);
    await has(
      'tart_kubelet_vm_provision_work_seconds_sum{pool="xcode",path="cold"} 459',
      'tart_kubelet_vm_provision_work_seconds_bucket{le="1",pool="unknown",path="warm"} 1',
      'tart_kubelet_golden_base_materialized_total{pool="xcode"} 2',
      'tart_kubelet_golden_base_reused_total{pool="unknown"} 1',
      // INC-72: an hour differs from ten minutes, and from more.
      'tart_kubelet_pod_provision_delay_seconds_bucket{le="1800",pool="xcode"} 0',
      'tart_kubelet_pod_provision_delay_seconds_bucket{le="3600",pool="xcode"} 1',
      'tart_kubelet_pod_provision_delay_seconds_count{pool="xcode"} 2',
      'tart_kubelet_vm_boot_duration_seconds_bucket{le="10",pool="xcode"} 2',
      'tart_kubelet_vm_boot_duration_seconds_sum{pool="xcode"} 7.5',
    );
  });

  test('CPU time, memory and start of the process, and no more', async (t) => {
    t.mock.method(process, 'cpuUsage', () => ({ user: 2_000_000, system: 500_000 }));
    t.mock.method(process.memoryUsage, 'rss', () => 80_000_000);
    t.mock.method(process, 'uptime', () => 5);
    const { clock, lines } = createHarness();
    const shown = async (): Promise<string[]> => (await lines()).filter((line) => /^(process|nodejs)_/.test(line));
    const expected = [
      'process_cpu_seconds_total 2.5',
      'process_resident_memory_bytes 80000000',
      `process_start_time_seconds ${clock.now() / 1000 - 5}`,
    ];
    assert.deepEqual(await shown(), expected);
    assert.deepEqual(await shown(), expected, 'a second scrape adds nothing');
  });

  test('the age of the oldest waiting Pod grows until it starts, and is zero afterwards (INC-72)', async () => {
    const { clock, state, has } = createHarness();
    await has('tart_kubelet_oldest_waiting_pod_age_seconds 0');
    state.waitingSince = clock.now();
    clock.advance(4 * 3_600_000);
    await has('tart_kubelet_oldest_waiting_pod_age_seconds 14400');
    state.waitingSince = undefined;
    await has('tart_kubelet_oldest_waiting_pod_age_seconds 0');
    state.waitingSince = clock.now() + 1;
    await has('tart_kubelet_oldest_waiting_pod_age_seconds 0');
  });

  test('VM start health', async () => {
    const { metrics, has } = createHarness();
    const untilMetrics = (refused: number, leaked: number) =>
      has(
        `tart_kubelet_vm_start_refused{reason="starts_refused"} ${refused}`,
        `tart_kubelet_vm_start_refused{reason="slots_leaked"} ${leaked}`,
      );
    await untilMetrics(0, 0);
    metrics.setObserved({ vmStart: { kind: 'refused', message: 'no' } });
    await untilMetrics(1, 0);
    metrics.setObserved({ vmStart: { kind: 'slots leaked', running: 0, total: 2 } });
    await untilMetrics(0, 1);
    metrics.setObserved({ vmStart: { kind: 'works' } });
    await untilMetrics(0, 0);
  });

  test('slots, pulls and garbage collection', async () => {
    const { metrics, state, has } = createHarness();
    metrics.setObserved({ slots: { taken: 1, total: 2 } });
    state.pulls = 2;
    metrics.garbageCollected('under pressure');
    await has(
      'tart_kubelet_vm_slots 2',
      'tart_kubelet_vm_slots_taken 1',
      'tart_kubelet_image_pulls_under_way 2',
      'tart_kubelet_collected_total{reason="pressure"} 1',
      'tart_kubelet_collected_total{reason="orphan_clone"} 0',
    );
  });

  test('certificate validity; zero for a missing certificate', async () => {
    const { state, has } = createHarness();
    const [from, until] = ['before', 'after'].map((when) => `tart_kubelet_certificate_not_${when}_timestamp_seconds`);
    await has(`${from}{certificate="client"} 0`, `${until}{certificate="client"} 0`);
    state.client = { notBefore: 5_000, notAfter: 604_805_000 };
    await has(
      `${from}{certificate="client"} 5`,
      `${until}{certificate="client"} 604805`,
      `${from}{certificate="serving"} 0`,
      `${until}{certificate="serving"} 0`,
    );
  });

  test('the disk metric of a deleted guest is removed', async () => {
    const { metrics, has, lines } = createHarness();
    metrics.setObserved({
      guestDisks: [
        { vm: 'a', usedPercent: 93 },
        { vm: 'b', usedPercent: 1 },
      ],
    });
    metrics.setObserved({ guestDisks: [{ vm: 'b', usedPercent: 2 }] });
    metrics.setObserved({ slots: { taken: 0, total: 2 } });
    await has('tart_kubelet_guest_disk_usage_percent{vm="b"} 2');
    assert.ok(!(await lines()).some((line) => line.includes('vm="a"')));
  });
});
