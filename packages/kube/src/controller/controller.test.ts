import assert from 'node:assert/strict';
import { test } from 'node:test';
import { manualClock } from '../clock/manual-clock.ts';
import { KubeError } from '../errors/kube-error.ts';
import { recordedLog } from '../informer/testing/recorded-log.ts';
import { noopQueueObserver, type QueueObserver } from '../workqueue/work-queue.ts';
import { type ControllerOptions, createController } from './controller.ts';
import {
  done,
  type ReconcileObserver,
  type Reconciler,
  type ReconcileResult,
  type ReconcileSummary,
  requeueAfter,
} from './reconcile.ts';
import type { Source } from './source.ts';
import { settle } from '../clock/testing/real-time.ts';

const summaries = (): { seen: (ReconcileSummary | undefined)[]; observer: ReconcileObserver } => {
  const seen: (ReconcileSummary | undefined)[] = [];
  return { seen, observer: { started: () => {}, began: () => {}, ended: (summary) => seen.push(summary) } };
};

const setUp = (reconcile: Reconciler, options: Partial<ControllerOptions> = {}) => {
  const clock = manualClock(0);
  const { log, lines } = recordedLog();
  const { seen, observer } = summaries();
  let enqueue: (key: string) => void = () => assert.fail('nobody has subscribed');
  let subscriptions = 0;
  const source: Source = (add) => {
    enqueue = add;
    subscriptions += 1;
    return () => {
      subscriptions -= 1;
    };
  };
  let queueStopped = false;
  const queueObserver: QueueObserver = {
    ...noopQueueObserver,
    stopped: () => {
      queueStopped = true;
    },
  };
  const controller = createController({
    name: 'test',
    reconcile,
    sources: [source],
    clock,
    log,
    metrics: { controller: () => observer, queue: () => queueObserver },
    ...options,
  });
  const stop = new AbortController();
  return {
    clock,
    seen,
    controller,
    stop,
    run: () => controller.run(stop.signal),
    enqueue: (...keys: readonly string[]) => {
      for (const key of keys) enqueue(key);
    },
    subscriptions: () => subscriptions,
    queueEnded: () => queueStopped,
    messages: () => lines.filter(({ level }) => level !== 'info' && level !== 'debug').map(({ message }) => message),
  };
};

const end = async (stop: AbortController, running: Promise<void>): Promise<void> => {
  stop.abort();
  await running;
};

test('nothing happens before run', () => {
  const { subscriptions } = setUp(() => assert.fail('reconciled'));
  assert.equal(subscriptions(), 0);
});

test('keys from the sources are reconciled one at a time', async () => {
  const seen: string[] = [];
  const { run, stop, enqueue, controller, subscriptions } = setUp(async (key) => {
    seen.push(`begin ${key}`);
    await settle(1);
    seen.push(`end ${key}`);
    return done;
  });
  const running = run();
  await controller.ready;
  enqueue('a', 'b');
  await settle();
  assert.deepEqual(seen, ['begin a', 'end a', 'begin b', 'end b']);
  await end(stop, running);
  assert.equal(subscriptions(), 0);
});

test('as many reconciles as workers run concurrently, but never two for one key', async () => {
  const underWay: string[] = [];
  let most = 0;
  const { run, stop, enqueue } = setUp(
    async (key) => {
      assert.ok(!underWay.includes(key));
      underWay.push(key);
      most = Math.max(most, underWay.length);
      await settle(2);
      underWay.splice(underWay.indexOf(key), 1);
      return done;
    },
    { workers: 3 },
  );
  const running = run();
  for (let round = 0; round < 10; round += 1) {
    enqueue('a', 'b', 'c', 'd');
    await settle(1);
  }
  await settle();
  assert.equal(most, 3);
  await end(stop, running);
});

test('the event loop goes on between passes that need no I/O, and no key waits for time to pass', async () => {
  let passes = 0;
  const { run, stop, enqueue } = setUp(
    async () => {
      passes += 1;
      return done;
    },
    { workers: 50 },
  );
  const running = run();
  await settle();
  enqueue(...Array.from({ length: 100 }, (_, index) => `key-${index}`));
  const perTurn: number[] = [];
  for (let turn = 0; turn < 10; turn += 1) {
    const before = passes;
    await settle(1);
    perTurn.push(passes - before);
  }
  assert.equal(passes, 100);
  // Ten in the turn that ends, and ten in the one that begins.
  assert.ok(Math.max(...perTurn) <= 20, `passes in each turn: ${perTurn.join(', ')}`);
  await end(stop, running);
});

test('a reconcile that is done is not repeated', async () => {
  let passes = 0;
  const { run, stop, enqueue, clock, seen } = setUp(async () => {
    passes += 1;
    return done;
  });
  const running = run();
  enqueue('a');
  await settle();
  clock.advance(10_000_000);
  await settle();
  assert.equal(passes, 1);
  assert.deepEqual(
    seen.map((summary) => summary?.result),
    ['success'],
  );
  await end(stop, running);
});

test('requeueAfter runs the key again after that time and resets its back-off', async () => {
  const outcomes: ReconcileResult[] = [
    { kind: 'failed', error: new Error('first') },
    { kind: 'failed', error: new Error('second') },
    requeueAfter(60_000),
    { kind: 'failed', error: new Error('third') },
  ];
  const at: number[] = [];
  const { run, stop, enqueue, clock } = setUp(async () => {
    at.push(clock.monotonic());
    return outcomes.shift() ?? done;
  });
  const running = run();
  enqueue('a');
  for (const milliseconds of [5, 10, 59_999, 1, 4, 1, 10_000_000]) {
    await settle();
    clock.advance(milliseconds);
  }
  await settle();
  assert.deepEqual(at, [0, 5, 15, 60_015, 60_020]);
  await end(stop, running);
});

for (const kind of ['done', 'terminal'] as const)
  test(`a ${kind} result resets the count of failures`, async () => {
    const failed: ReconcileResult = { kind: 'failed', error: new Error('no') };
    const outcomes: ReconcileResult[] = [
      failed,
      failed,
      kind === 'done' ? done : { kind, error: new Error('no') },
      failed,
    ];
    const at: number[] = [];
    const { run, stop, enqueue, clock } = setUp(async () => {
      at.push(clock.monotonic());
      return outcomes.shift() ?? done;
    });
    const running = run();
    enqueue('a');
    for (const milliseconds of [5, 10, 85]) {
      await settle();
      clock.advance(milliseconds);
    }
    enqueue('a');
    await settle();
    clock.advance(5);
    await settle();
    assert.deepEqual(at, [0, 5, 15, 100, 105]);
    await end(stop, running);
  });

const failing: readonly [string, Reconciler, boolean][] = [
  [
    'throws at once',
    () => {
      throw new Error('now');
    },
    false,
  ],
  [
    'rejects',
    async () => {
      throw new Error('later');
    },
    false,
  ],
  ['answers failed', async () => ({ kind: 'failed', error: new Error('said') }), false],
  [
    'has a programming mistake',
    async () => {
      throw new TypeError('x is not a function');
    },
    true,
  ],
  [
    'throws what is no error',
    async () => {
      throw 'text' as unknown as Error;
    },
    true,
  ],
  ['answers nothing', (async () => undefined) as unknown as Reconciler, true],
  ['wants to come back at no time', async () => requeueAfter(Number.NaN), true],
  ['wants to come back in the past', async () => requeueAfter(-1), true],
];
for (const [what, reconcile, defect] of failing)
  test(`a reconcile function that ${what} is retried with back-off, and other keys are not delayed`, async () => {
    const passes: string[] = [];
    const { run, stop, enqueue, clock, seen, messages } = setUp((key, signal) => {
      passes.push(key);
      return key === 'bad' && passes.length === 1 ? reconcile(key, signal) : Promise.resolve(done);
    });
    const running = run();
    enqueue('bad', 'good');
    await settle();
    clock.advance(5);
    await settle();
    assert.deepEqual(passes, ['bad', 'good', 'bad']);
    assert.deepEqual(
      seen.map((summary) => summary?.result),
      ['error', 'success', 'success'],
    );
    assert.equal(seen[0]?.defect, defect);
    assert.equal(seen[0]?.terminal, false);
    assert.equal(messages().length, 1);
    await end(stop, running);
  });

test('a terminal error is logged and not retried until the object changes', async () => {
  let passes = 0;
  const { run, stop, enqueue, clock, seen, messages } = setUp(async () => {
    passes += 1;
    return { kind: 'terminal', error: new Error('no such machine type') };
  });
  const running = run();
  enqueue('a');
  await settle();
  clock.advance(10_000_000);
  await settle();
  assert.equal(passes, 1);
  assert.equal(seen[0]?.terminal, true);
  assert.deepEqual(messages(), ['A pass cannot succeed until the object changes']);
  enqueue('a');
  await settle();
  assert.equal(passes, 2);
  await end(stop, running);
});

for (const { reason, delays } of [
  { reason: 'tooManyRequests' as const, delays: [7000, 7000, 7000] },
  // The server's 7 s are a lower bound of 4, 8 and 16 s.
  { reason: 'serverError' as const, delays: [7000, 8000, 16_000] },
])
  test(`after ${reason}, a key comes back after ${delays.join(', ')} ms`, async () => {
    let passes = 0;
    const reconcile = async (): Promise<never> => {
      passes += 1;
      throw new KubeError(reason, 'slow down', { retryAfterMs: 7000 });
    };
    const { run, stop, enqueue, clock } = setUp(reconcile, { backoff: { baseMs: 4000, maxMs: 60_000 } });
    const running = run();
    enqueue('a');
    await settle();
    for (const [index, delay] of delays.entries()) {
      clock.advance(delay - 1);
      await settle();
      assert.equal(passes, index + 1);
      clock.advance(1);
      await settle();
      assert.equal(passes, index + 2);
    }
    await end(stop, running);
  });

/** Waits for its signal, and returns the abort reason. */
const untilSignal = (signal: AbortSignal): Promise<ReconcileResult> =>
  new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason as Error)));

test('on stop, running reconciles get their signal and the grace period, and queued keys are dropped', async () => {
  const passes: string[] = [];
  const { run, stop, enqueue, seen, clock, controller, messages } = setUp(async (key, signal) => {
    passes.push(key);
    return untilSignal(signal);
  });
  const running = run();
  enqueue('a', 'b');
  await settle();
  stop.abort();
  await running;
  clock.advance(1_000_000);
  assert.deepEqual(passes, ['a']);
  assert.deepEqual(seen, [undefined], 'an interrupted pass is no error');
  assert.deepEqual(controller.abandoned, []);
  assert.deepEqual(messages(), []);
});

test('a key taken from the queue at the moment of the stop is not reconciled', async () => {
  let passes = 0;
  const { run, stop, enqueue } = setUp(async () => {
    passes += 1;
    return done;
  });
  const running = run();
  await settle();
  enqueue('a');
  stop.abort();
  await running;
  assert.equal(passes, 0);
});

test('a reconcile that stops its own controller gets the abort signal, too', async () => {
  const { run, stop, enqueue, controller } = setUp((_, signal) => {
    const waiting = untilSignal(signal);
    stop.abort();
    return waiting;
  });
  const running = run();
  enqueue('a');
  await running;
  assert.deepEqual(controller.abandoned, []);
});

test('a stop during subscribing leaves no subscription', async () => {
  let subscribed = false;
  const stop = new AbortController();
  const source: Source = () => {
    stop.abort();
    subscribed = true;
    return () => {
      subscribed = false;
    };
  };
  const { controller } = setUp(async () => done, { sources: [source] });
  await controller.run(stop.signal);
  assert.equal(subscribed, false);
});

test('a reconcile that ignores its signal is abandoned after the grace period, and the controller does not run again meanwhile', async () => {
  const reconciled = Promise.withResolvers<ReconcileResult>();
  const { run, stop, enqueue, clock, controller, messages } = setUp(() => reconciled.promise, { stopGraceMs: 2000 });
  const running = run();
  enqueue('a');
  await settle();
  stop.abort();
  let over = false;
  void running.then(() => {
    over = true;
  });
  await settle();
  clock.advance(1999);
  await settle();
  assert.equal(over, false);
  assert.deepEqual(controller.abandoned, []);
  clock.advance(1);
  await running;
  assert.deepEqual(controller.abandoned, ['a']);
  assert.deepEqual(messages(), ['A reconcile ignored its signal and is abandoned']);
  await assert.rejects(controller.run(new AbortController().signal), /reconciles of a never ended/);
  reconciled.resolve(done);
  await settle();
  assert.deepEqual(controller.abandoned, []);
});

test('a controller can run again after it has stopped, with an empty queue', async () => {
  const passes: string[] = [];
  const { run, stop, enqueue, controller } = setUp(async (key) => {
    passes.push(key);
    return done;
  });
  const running = run();
  enqueue('a');
  await settle();
  await end(stop, running);
  const later = new AbortController();
  const second = controller.run(later.signal);
  await assert.rejects(controller.run(later.signal), /runs already/);
  enqueue('b');
  await settle();
  await end(later, second);
  assert.deepEqual(passes, ['a', 'b']);
});

test('a source that cannot be subscribed to ends the run, and the others are unsubscribed', async () => {
  let subscriptions = 0;
  const good: Source = () => {
    subscriptions += 1;
    return () => {
      subscriptions -= 1;
    };
  };
  const bad: Source = () => {
    throw new Error('no such index');
  };
  const { run, queueEnded } = setUp(async () => done, { sources: [good, bad] });
  await assert.rejects(run(), /no such index/);
  assert.equal(subscriptions, 0);
  assert.equal(queueEnded(), true);
});

test('a change that cannot be mapped is logged', async () => {
  const source: Source = (_, report) => {
    report(new Error('cannot map'));
    return () => {};
  };
  const { run, stop, messages } = setUp(async () => done, { sources: [source] });
  const running = run();
  await settle();
  assert.deepEqual(messages(), ['A change could not be mapped to keys and is ignored']);
  await end(stop, running);
});

test('an error outside a reconcile ends the run instead of losing a worker', async () => {
  const observer: ReconcileObserver = {
    started: () => {},
    began: () => {},
    ended: () => {
      throw new Error('metrics are broken');
    },
  };
  const { run, enqueue, subscriptions } = setUp(async () => done, {
    workers: 2,
    metrics: { controller: () => observer, queue: () => noopQueueObserver },
  });
  const running = run();
  enqueue('a');
  await assert.rejects(running, /metrics are broken/);
  assert.equal(subscriptions(), 0);
});

test('a controller without workers is rejected', () => {
  assert.throws(() => setUp(async () => done, { workers: 0 }), /controller test: 0 is no number of workers/);
});

test('an aborted signal starts nothing', async () => {
  const { run, stop, subscriptions } = setUp(async () => done);
  stop.abort();
  await run();
  assert.equal(subscriptions(), 0);
});
