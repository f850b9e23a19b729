import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { IEvent } from 'kubernetes-models/v1/Event';
import type { CallOptions, Client, Patch } from '../client/client.ts';
import { manualClock } from '../clock/manual-clock.ts';
import { settle } from '../clock/testing/real-time.ts';
import { KubeError, type KubeErrorReason } from '../errors/kube-error.ts';
import { recordedLog } from '../informer/testing/recorded-log.ts';
import type { ObjectName } from '../objects/object.ts';
import type { EventInput } from './event.ts';
import { createEventRecorder } from './recorder.ts';

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'ns', uid: 'u', resourceVersion: '5' },
};
const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'mini', uid: 'n' } };
const started: EventInput = { type: 'Normal', reason: 'Started', message: 'it runs' };

/** A server that stores events, fails on demand, or delays its responses. */
const setup = () => {
  const clock = manualClock();
  const { log, lines } = recordedLog();
  const stored = new Map<string, IEvent>();
  const calls: string[] = [];
  const server = {
    failures: [] as (KubeErrorReason | 'lost answer')[],
    hold: undefined as Promise<void> | undefined,
    signals: [] as (AbortSignal | undefined)[],
  };
  const answer = async <T>(options: CallOptions | undefined, act: () => T): Promise<T> => {
    server.signals.push(options?.signal);
    const aborted = Promise.withResolvers<void>();
    options?.signal?.addEventListener('abort', () => aborted.reject(new KubeError('aborted', 'as asked')));
    await Promise.race([server.hold, aborted.promise]);
    const failure = server.failures.shift();
    if (failure === 'lost answer') act();
    if (failure !== undefined)
      throw new KubeError(
        failure === 'lost answer' ? 'unreachable' : failure,
        'told to',
        failure === 'tooManyRequests' ? { retryAfterMs: 7000 } : {},
      );
    return act();
  };
  const client = {
    create: (_: unknown, event: IEvent, options?: CallOptions) =>
      answer(options, () => {
        const key = `${event.metadata?.namespace}/${event.metadata?.name}`;
        calls.push(`create ${event.count}`);
        if (stored.has(key)) throw new KubeError('alreadyExists', key);
        stored.set(key, structuredClone(event));
      }),
    patch: (_: unknown, { namespace, name }: ObjectName, patch: Patch, options?: CallOptions) =>
      answer(options, () => {
        const event = stored.get(`${namespace}/${name}`);
        const body = patch.body as IEvent;
        calls.push(`patch ${body.count}`);
        if (event === undefined) throw new KubeError('notFound', name);
        stored.set(`${namespace}/${name}`, { ...event, ...body });
      }),
  } as unknown as Client;
  const recorder = createEventRecorder({ client, clock, component: 'example.com/tests', instance: 'pod-1', log });
  const events = (): IEvent[] => [...stored.values()];
  return { clock, lines, stored, calls, server, recorder, events };
};

describe('an event', () => {
  it('is written in the format of the API', async () => {
    const { recorder, events } = setup();
    recorder.event(pod, started);
    await settle();
    const [event] = events();
    assert.match(event?.metadata?.name ?? '', /^web\.[0-9a-f]+$/);
    assert.deepEqual(
      { ...event, metadata: { ...event?.metadata, name: '' } },
      {
        apiVersion: 'v1',
        kind: 'Event',
        metadata: { name: '', namespace: 'ns' },
        involvedObject: { apiVersion: 'v1', kind: 'Pod', namespace: 'ns', name: 'web', uid: 'u', resourceVersion: '5' },
        type: 'Normal',
        reason: 'Started',
        message: 'it runs',
        count: 1,
        firstTimestamp: '2026-01-01T00:00:00Z',
        lastTimestamp: '2026-01-01T00:00:00Z',
        source: { component: 'example.com/tests' },
        reportingComponent: 'example.com/tests',
        reportingInstance: 'pod-1',
      },
    );
  });

  it('of a cluster-scoped object is in the namespace default', async () => {
    const { recorder, events } = setup();
    recorder.event(node, started);
    await settle();
    assert.equal(events()[0]?.metadata?.namespace, 'default');
    assert.equal(events()[0]?.involvedObject.namespace, undefined);
  });

  it('that repeats is counted by a patch', async () => {
    const { recorder, events, calls, clock } = setup();
    recorder.event(pod, started);
    await settle();
    clock.advance(60_000);
    recorder.event(pod, started);
    await settle();
    assert.deepEqual(calls, ['create 1', 'patch 2']);
    assert.equal(events()[0]?.count, 2);
    assert.equal(events()[0]?.firstTimestamp, '2026-01-01T00:00:00Z');
    assert.equal(events()[0]?.lastTimestamp, '2026-01-01T00:01:00Z');
  });

  it('that repeats before it is written is written once', async () => {
    const { recorder, calls } = setup();
    for (let i = 0; i < 5; i++) recorder.event(pod, started);
    await settle();
    assert.deepEqual(calls, ['create 5']);
  });

  it('that repeats during its write is written again', async () => {
    const { recorder, server, calls } = setup();
    const held = Promise.withResolvers<void>();
    server.hold = held.promise;
    recorder.event(pod, started);
    await settle();
    recorder.event(pod, started);
    held.resolve();
    await settle();
    assert.deepEqual(calls.at(-1), 'patch 2');
  });

  it('that the server has expired is created again', async () => {
    const { recorder, stored, calls, events } = setup();
    recorder.event(pod, started);
    await settle();
    stored.clear();
    recorder.event(pod, started);
    await settle();
    assert.deepEqual(calls, ['create 1', 'patch 2', 'create 2']);
    assert.equal(events().length, 1);
  });

  it('is not written twice when the response was lost', async () => {
    const { recorder, server, clock, events, calls } = setup();
    server.failures.push('lost answer');
    recorder.event(pod, started);
    await settle();
    clock.advance(1000);
    await settle();
    assert.deepEqual(calls, ['create 1', 'create 1', 'patch 1']);
    assert.equal(events().length, 1);
  });

  it('can be recorded right after the previous one was written', async () => {
    const { recorder, server, calls } = setup();
    for (let turns = 0; turns < 12; turns++) {
      const held = Promise.withResolvers<void>();
      server.hold = held.promise;
      recorder.event(pod, { ...started, reason: `A${turns}` });
      await settle();
      held.resolve();
      for (let turn = 0; turn < turns; turn++) await Promise.resolve();
      recorder.event(pod, { ...started, reason: `B${turns}` });
      await settle();
    }
    assert.equal(calls.length, 24);
  });
});

describe('a write that fails', () => {
  for (const reason of ['unreachable', 'timeout', 'serverError', 'unauthorized'] as const)
    it(`with ${reason} is retried with back-off`, async () => {
      const { recorder, server, clock, events, lines } = setup();
      server.failures.push(reason, reason);
      recorder.event(pod, started);
      await settle();
      clock.advance(1000);
      await settle();
      assert.equal(server.failures.length, 0);
      clock.advance(1999);
      await settle();
      assert.equal(events().length, 0);
      clock.advance(1);
      await settle();
      assert.equal(events().length, 1);
      assert.deepEqual(lines, []);
    });

  it('with too many requests is retried after the requested time', async () => {
    const { recorder, server, clock, events } = setup();
    server.failures.push('tooManyRequests');
    recorder.event(pod, started);
    await settle();
    clock.advance(6999);
    await settle();
    assert.equal(events().length, 0);
    clock.advance(1);
    await settle();
    assert.equal(events().length, 1);
  });

  for (const reason of ['forbidden', 'invalid', 'badRequest'] as const)
    it(`with ${reason} is dropped and logged, and the next event is written`, async () => {
      const { recorder, server, events, lines } = setup();
      server.failures.push(reason);
      recorder.event(pod, started);
      recorder.event(node, started);
      await settle();
      assert.equal(events().length, 1);
      assert.deepEqual(
        lines.map(({ level, message }) => [level, message]),
        [['warn', 'Cannot write an event']],
      );
    });

  it('is dropped after five attempts', async () => {
    const { recorder, server, clock, lines, calls } = setup();
    server.failures.push(...Array.from({ length: 5 }, () => 'unreachable' as const));
    recorder.event(pod, started);
    for (let i = 0; i < 10; i++) {
      await settle();
      clock.advance(60_000);
    }
    assert.equal(lines[0]?.fields['tries'], 5);
    assert.deepEqual(calls, []);
  });
});

describe('recording', () => {
  it('never throws, for any input', () => {
    const { recorder, lines } = setup();
    const trap = new Proxy(
      {},
      {
        get: () => {
          throw new Error('trap');
        },
      },
    );
    recorder.event(trap, started);
    recorder.event({}, started);
    recorder.event(pod, trap as EventInput);
    assert.deepEqual(
      lines.map(({ level }) => level),
      ['error', 'warn', 'error'],
    );
  });

  it('does not wait for the server', async () => {
    const { recorder, calls } = setup();
    recorder.event(pod, started);
    assert.deepEqual(calls, []);
    await settle();
    assert.deepEqual(calls, ['create 1']);
  });

  it('drops events beyond the queue limit, and logs the first and the count', async () => {
    const { recorder, server, lines, events } = setup();
    const held = Promise.withResolvers<void>();
    server.hold = held.promise;
    for (let i = 0; i < 1500; i++) recorder.event({ ...node, metadata: { name: `n${i}`, uid: `${i}` } }, started);
    assert.equal(lines.length, 1);
    held.resolve();
    await settle(5000);
    assert.equal(events().length, 1000);
    assert.deepEqual(
      lines.map(({ message, fields }) => [message, fields['dropped']]),
      [
        ['Dropping events: too many wait to be written', undefined],
        ['Events were dropped', 500],
      ],
    );
  });
});

describe('at the end', () => {
  it('queued events are written, and new ones are ignored', async () => {
    const { recorder, events } = setup();
    recorder.event(pod, started);
    recorder.event(node, started);
    await recorder.flush(5000);
    assert.equal(events().length, 2);
    recorder.event(pod, { ...started, reason: 'Late' });
    await settle();
    assert.equal(events().length, 2);
  });

  it('new events are ignored while the last ones are written', async () => {
    const { recorder, server, events } = setup();
    const held = Promise.withResolvers<void>();
    server.hold = held.promise;
    recorder.event(pod, started);
    await settle();
    const end = recorder.flush(5000);
    recorder.event(node, started);
    held.resolve();
    await end;
    assert.equal(events().length, 1);
  });

  it('flush returns at once when nothing is queued', async () => {
    const { recorder } = setup();
    await recorder.flush(5000);
  });

  it('flush ends at its deadline if the server does not answer', async () => {
    const { recorder, server, clock, lines } = setup();
    server.hold = new Promise(() => {});
    recorder.event(pod, started);
    recorder.event(node, started);
    await settle();
    const end = recorder.flush(5000);
    clock.advance(5000);
    await end;
    await settle();
    assert.equal(server.signals[0]?.aborted, true);
    assert.deepEqual(
      lines.map(({ message }) => message),
      ['Events were lost at the end'],
    );
  });

  it('the back-off between attempts ends at the deadline of flush', async () => {
    const { recorder, server, clock, calls } = setup();
    server.failures.push('unreachable');
    recorder.event(pod, started);
    await settle();
    const end = recorder.flush(500);
    clock.advance(500);
    await end;
    await settle();
    clock.advance(60_000);
    await settle();
    assert.deepEqual(calls, []);
  });
});
