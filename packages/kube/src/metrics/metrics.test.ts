import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../clock/manual-clock.ts';
import { KubeError } from '../errors/kube-error.ts';
import type { Transport, TransportRequest } from '../transport/transport.ts';
import { createWorkQueue } from '../workqueue/work-queue.ts';
import { createMetrics, createScrapeGauges, type Metrics, type RequestSample, withRequestMetrics } from './metrics.ts';
import { Gauge } from './prometheus.ts';

/** Value of one series, written `name{a="b"}`; `absent` if there is none. */
const read = async (metrics: Metrics, series: string): Promise<number | 'absent'> => {
  const { body } = await metrics.text();
  const line = body.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? 'absent' : Number(line.slice(series.length + 1));
};

/** Names, types, labels and histogram bounds as controller-runtime 0.24 and Kubernetes (waits for the client's limit) register them. */
const promised: readonly [string, string, string][] = [
  ['controller_runtime_reconcile_total', 'counter', 'controller,result'],
  ['controller_runtime_reconcile_errors_total', 'counter', 'controller'],
  ['controller_runtime_terminal_reconcile_errors_total', 'counter', 'controller'],
  ['controller_runtime_reconcile_panics_total', 'counter', 'controller'],
  ['controller_runtime_reconcile_timeouts_total', 'counter', 'controller'],
  ['controller_runtime_reconcile_time_seconds', 'histogram', 'controller'],
  ['controller_runtime_max_concurrent_reconciles', 'gauge', 'controller'],
  ['controller_runtime_active_workers', 'gauge', 'controller'],
  ['workqueue_depth', 'gauge', 'controller,name'],
  ['workqueue_adds_total', 'counter', 'controller,name'],
  ['workqueue_queue_duration_seconds', 'histogram', 'controller,name'],
  ['workqueue_work_duration_seconds', 'histogram', 'controller,name'],
  ['workqueue_unfinished_work_seconds', 'gauge', 'controller,name'],
  ['workqueue_longest_running_processor_seconds', 'gauge', 'controller,name'],
  ['workqueue_retries_total', 'counter', 'controller,name'],
  ['rest_client_requests_total', 'counter', 'code,host,method'],
  ['rest_client_rate_limiter_duration_seconds', 'histogram', 'host,verb'],
  ['leader_election_master_status', 'gauge', 'name'],
];

test('names, types and labels are those of controller-runtime', async () => {
  const clock = manualClock(0);
  const metrics = createMetrics({ clock });
  const passes = metrics.controller('c');
  passes.started(2);
  passes.began();
  passes.ended({ result: 'success', seconds: 0.1, terminal: false, defect: false });
  const queue = createWorkQueue({ clock, observer: metrics.queue('c') });
  queue.add('a');
  queue.done((await queue.get()) ?? '');
  metrics.countRequest({ code: 200, method: 'GET', host: 'h:1' });
  metrics.requestWaited({ verb: 'GET', host: 'h:1', seconds: 0 });
  metrics.setLeader('lease', true);
  const { body } = await metrics.text();
  const found = promised.map(([name]) => {
    const type = new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(body)?.[1] ?? 'absent';
    const labels = new RegExp(`^${name}(?:_count)?\\{(.*)\\} `, 'm').exec(body)?.[1] ?? '';
    return [
      name,
      type,
      [...labels.matchAll(/(\w+)="/g)]
        .map(([, label = '']) => label)
        .sort((a, b) => a.localeCompare(b))
        .join(','),
    ];
  });
  assert.deepEqual(found, promised);
});

test('histograms have the bounds of controller-runtime and client-go', async () => {
  const metrics = createMetrics({ clock: manualClock(0) });
  metrics.controller('c').ended({ result: 'success', seconds: 1, terminal: false, defect: false });
  const queue = metrics.queue('c');
  queue.added('a');
  queue.taken('a');
  const { body } = await metrics.text();
  const bounds = (name: string): number[] =>
    [...body.matchAll(new RegExp(`^${name}_bucket\\{le="([^"]+)"`, 'gm'))].map(([, bound]) => Number(bound));
  const passBounds = bounds('controller_runtime_reconcile_time_seconds');
  assert.equal(passBounds.length, 41);
  assert.deepEqual(passBounds.slice(0, 6), [0.005, 0.01, 0.025, 0.05, 0.1, 0.15]);
  assert.deepEqual(passBounds.slice(-3, -1), [50, 60]);
  const queueBounds = bounds('workqueue_queue_duration_seconds');
  assert.equal(queueBounds.length, 13);
  assert.equal(queueBounds[0], 1e-8);
  assert.ok(Math.abs((queueBounds[11] ?? 0) - 1000) < 1e-6);
  metrics.requestWaited({ verb: 'GET', host: 'h:1', seconds: 0 });
  const waits = [...(await metrics.text()).body.matchAll(/^rest_client_rate_limiter_\w+_bucket\{le="([^"]+)"/gm)];
  const waitBounds = waits.map(([, bound]) => bound).join(' ');
  assert.equal(waitBounds, '0.005 0.025 0.1 0.25 0.5 1 2 4 8 15 30 60 +Inf');
});

test('only the leader reports the lease transitions', async () => {
  const metrics = createMetrics({ clock: manualClock(0) });
  const both = () =>
    Promise.all(['master_status', 'lease_transitions'].map((of) => read(metrics, `leader_election_${of}{name="l"}`)));
  metrics.setLeader('l', false);
  assert.deepEqual(await both(), [0, 'absent']);
  metrics.setLeader('l', true, 7);
  assert.deepEqual(await both(), [1, 7]);
  metrics.setLeader('l', false);
  assert.deepEqual(await both(), [0, 'absent']);
});

test('a controller has all its series from the start, at zero', async () => {
  const metrics = createMetrics({ clock: manualClock(0) });
  metrics.controller('c').started(3);
  for (const result of ['success', 'error', 'requeue', 'requeue_after'])
    assert.equal(await read(metrics, `controller_runtime_reconcile_total{controller="c",result="${result}"}`), 0);
  assert.equal(await read(metrics, 'controller_runtime_reconcile_errors_total{controller="c"}'), 0);
  assert.equal(await read(metrics, 'controller_runtime_active_workers{controller="c"}'), 0);
  assert.equal(await read(metrics, 'controller_runtime_max_concurrent_reconciles{controller="c"}'), 3);
});

test('reconciles are counted by result', async () => {
  const metrics = createMetrics({ clock: manualClock(0) });
  const passes = metrics.controller('c');
  passes.started(1);
  const fine = { result: 'success', seconds: 2, terminal: false, defect: false } as const;
  for (const summary of [
    fine,
    { ...fine, result: 'requeue_after' },
    { ...fine, result: 'error', defect: true },
    { ...fine, result: 'error', terminal: true },
    { ...fine, result: 'error' },
    undefined,
  ] as const) {
    passes.began();
    passes.ended(summary);
  }
  passes.began();
  const values = await Promise.all(
    [
      'reconcile_total{controller="c",result="success"}',
      'reconcile_total{controller="c",result="error"}',
      'reconcile_total{controller="c",result="requeue_after"}',
      'reconcile_errors_total{controller="c"}',
      'terminal_reconcile_errors_total{controller="c"}',
      'reconcile_panics_total{controller="c"}',
      'reconcile_timeouts_total{controller="c"}',
      'reconcile_time_seconds_count{controller="c"}',
      'reconcile_time_seconds_sum{controller="c"}',
      'active_workers{controller="c"}',
    ].map((series) => read(metrics, `controller_runtime_${series}`)),
  );
  assert.deepEqual(values, [1, 3, 1, 3, 1, 1, 0, 5, 10, 1]);
});

test('a queue is measured by the monotonic clock', async () => {
  const clock = manualClock(0);
  const metrics = createMetrics({ clock });
  const queue = createWorkQueue({ clock, observer: metrics.queue('q') });
  const labels = '{name="q",controller="q"}';
  queue.add('a');
  queue.add('b');
  assert.equal(await read(metrics, `workqueue_depth${labels}`), 2);
  clock.advance(1000);
  await queue.get();
  clock.advance(2000);
  await queue.get();
  clock.advance(3000);
  queue.add('a');
  assert.equal(await read(metrics, `workqueue_depth${labels}`), 1, 'wanted again while it is worked on');
  assert.equal(await read(metrics, `workqueue_queue_duration_seconds_sum${labels}`), 4);
  assert.equal(await read(metrics, `workqueue_unfinished_work_seconds${labels}`), 8);
  assert.equal(await read(metrics, `workqueue_longest_running_processor_seconds${labels}`), 5);
  queue.done('a');
  assert.equal(await read(metrics, `workqueue_work_duration_seconds_sum${labels}`), 5);
  queue.addRateLimited('b');
  queue.addAfter('b', 5);
  assert.equal(await read(metrics, `workqueue_retries_total${labels}`), 2);
  assert.equal(await read(metrics, `workqueue_adds_total${labels}`), 3);
  queue.done('b');
  queue.add('c');
  assert.equal(await read(metrics, `workqueue_depth${labels}`), 2, 'a queue without work is still there');
});

test('a stopped queue keeps only its unfinished keys, and a new queue of that name starts at zero', async () => {
  const clock = manualClock(0);
  const metrics = createMetrics({ clock });
  const labels = '{name="q",controller="q"}';
  const old = createWorkQueue({ clock, observer: metrics.queue('q') });
  old.add('a');
  old.add('b');
  await old.get();
  old.shutDown();
  clock.advance(1000);
  assert.equal(await read(metrics, `workqueue_depth${labels}`), 0);
  assert.equal(await read(metrics, `workqueue_unfinished_work_seconds${labels}`), 1);
  old.done('a');
  const fresh = createWorkQueue({ clock, observer: metrics.queue('q') });
  fresh.add('a');
  await fresh.get();
  clock.advance(2000);
  assert.equal(await read(metrics, `workqueue_unfinished_work_seconds${labels}`), 2);
});

/** A gauge that counts the Macs of each zone; a zone `broken` cannot be counted. */
const createZoneGauge = () => {
  const metrics = createMetrics({ clock: manualClock(0) });
  let zones: readonly string[] | undefined;
  let gauge: Gauge<'zone'> | undefined;
  createScrapeGauges(metrics.registry, () => zones)('macs', 'Macs', ['zone'], (macs, seen) => {
    gauge = macs;
    for (const zone of seen) {
      macs.inc({ zone });
      if (zone === 'broken') throw new Error('for the test');
    }
  });
  const scrape = (): Promise<(number | 'absent')[]> =>
    Promise.all(['a', 'b'].map((zone) => read(metrics, `macs{zone="${zone}"}`)));
  return {
    scrape,
    scrapeOf: (...seen: string[]) => {
      zones = seen;
      return scrape();
    },
    /** The series in memory, without those that another scrape would add. */
    held: async () => {
      zones = undefined;
      return gauge && (await Gauge.prototype.get.call(gauge)).values;
    },
  };
};

test('a scraped gauge drops the series of what is gone, and holds none between scrapes', async () => {
  const { scrapeOf, held } = createZoneGauge();
  assert.deepEqual(await scrapeOf('a', 'b', 'b'), [1, 2]);
  assert.deepEqual(await held(), []);
  assert.deepEqual(await scrapeOf('b'), ['absent', 1]);
});

test('a scraped gauge counts nothing twice: while another scrape is under way, and after one that failed', async () => {
  const { scrape, scrapeOf } = createZoneGauge();
  assert.deepEqual(await Promise.all([scrapeOf('a', 'b'), scrape()]), [
    [1, 1],
    [1, 1],
  ]);
  await assert.rejects(scrapeOf('a', 'broken'), /for the test/);
  assert.deepEqual(await scrapeOf('a'), [1, 'absent']);
});

test('requests that got no answer are counted as client-go counts them', async () => {
  const metrics = createMetrics({ clock: manualClock(0) });
  metrics.countRequest({ code: undefined, method: 'GET', host: 'h:1' });
  assert.equal(await read(metrics, 'rest_client_requests_total{code="<error>",method="GET",host="h:1"}'), 1);
});

const request: TransportRequest = { method: 'GET', path: '/', headers: {}, signal: new AbortController().signal };

const setUp = (send: Transport['send']) => {
  const counted: RequestSample[] = [];
  const inner: Transport = { send, close: () => {} };
  return { counted, transport: withRequestMetrics(inner, { host: 'h:1', count: (one) => counted.push(one) }) };
};

test('a response is counted by its code, whatever it is', async () => {
  const answer = { code: 404, headers: {}, body: (async function* () {})() };
  const { counted, transport } = setUp(async () => answer);
  assert.equal(await transport.send(request), answer);
  assert.deepEqual(counted, [{ code: 404, method: 'GET', host: 'h:1' }]);
});

test('a request without an answer is counted and fails as before', async () => {
  const { counted, transport } = setUp(() => Promise.reject(new KubeError('unreachable', 'away')));
  await assert.rejects(transport.send(request), { reason: 'unreachable' });
  assert.deepEqual(counted, [{ code: undefined, method: 'GET', host: 'h:1' }]);
});
