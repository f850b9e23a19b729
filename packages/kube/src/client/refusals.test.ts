import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type ManualClock, manualClock } from '../clock/manual-clock.ts';
import { settle } from '../clock/testing/real-time.ts';
import { configMaps, nodes, pods, secrets } from '../objects/builtin.ts';
import type { Client } from './client.ts';
import { createClient } from './create-client.ts';
import { createRequestLimiter, type RequestLimits } from './request-limiter.ts';
import { createSubresources } from './subresources.ts';
import { type Script, scriptedTransport } from './testing/scripted-transport.ts';

const metadata = {
  name: 'a',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '5',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const secret = { apiVersion: 'v1', kind: 'Secret', metadata } as const;
const name = { namespace: 'n', name: 'a' };

const against = (
  script: Script,
  { random = () => 0, ...limits }: Partial<RequestLimits & { random: () => number }> = {},
) => {
  const transport = scriptedTransport(script);
  const clock = manualClock();
  const limiter = createRequestLimiter({ clock, random, qps: 1000, burst: 1000, maxInFlight: 50, ...limits });
  const options = { clock, flow: limiter.flow('machine') };
  return {
    transport,
    clock,
    client: createClient(transport, options),
    subresources: createSubresources(transport, options),
  };
};

/** As API Priority and Fairness answers. */
const refused = (seconds: number, level?: string) => ({
  code: 429,
  headers: {
    'content-type': 'text/plain; charset=utf-8',
    'retry-after': `${seconds}`,
    ...(level !== undefined && { 'x-kubernetes-pf-prioritylevel-uid': level }),
  },
  body: 'Too many requests, please try again later.',
});
const status = (code: number, headers: Record<string, string>, details: object = {}) => ({
  code,
  headers: { 'content-type': 'application/json', ...headers },
  body: { kind: 'Status', message: 'later', code, details },
});
const shuttingDown = status(503, { 'retry-after': '1' });
const storageInitialises = status(429, { 'retry-after': '1' }, { retryAfterSeconds: 1 });

describe('a request that the server refused', () => {
  const list = { metadata: { resourceVersion: '9' }, items: [] };
  const deleted = { kind: 'Status', apiVersion: 'v1', status: 'Success', metadata: {} };
  const signal = new AbortController().signal;
  const verbs: [verb: string, call: (client: Client) => Promise<unknown>, body: unknown][] = [
    ['get', (client) => client.get(secrets, name), secret],
    ['list', (client) => client.list(secrets), list],
    ['watch', (client) => Array.fromAsync(client.watch(secrets, { resourceVersion: '1', signal })), ''],
    ['create', (client) => client.create(secrets, secret), secret],
    ['update', (client) => client.update(secrets, secret), secret],
    ['patch', (client) => client.patch(secrets, name, { type: 'merge', body: { data: {} } }), secret],
    ['delete', (client) => client.delete(secrets, name), deleted],
  ];
  for (const [verb, call, body] of verbs)
    test(`is sent again when the server wants it: ${verb}`, async () => {
      const { client, clock, transport } = against((_request, index) => (index === 0 ? refused(2) : { body }));
      const calling = call(client);
      await settle();
      clock.advance(1999);
      await settle();
      assert.equal(transport.seen.length, 1);
      clock.advance(1);
      await calling;
      const [first, second] = transport.seen;
      assert.deepEqual({ ...second, signal: undefined }, { ...first, signal: undefined });
      assert.equal(transport.seen.length, 2);
    });

  const budget = { causes: [{ reason: 'DisruptionBudget', message: 'needs 2 healthy pods' }], retryAfterSeconds: 10 };
  const answers: [what: string, answer: ReturnType<typeof status>, attempts: number][] = [
    ['429 of flow control', { ...refused(1), body: { kind: 'Status', message: '', code: 429, details: {} } }, 2],
    ['429 of a storage that initialises', storageInitialises, 2],
    ['503 of a server that shuts down', shuttingDown, 2],
    ['429 of a disruption budget', status(429, { 'retry-after': '10' }, budget), 1],
    ['429 without a time', status(429, {}), 1],
    ['503 without a time', status(503, {}), 1],
    ['500 with a time, which may have been carried out', status(500, { 'retry-after': '1' }), 1],
    ['504 with a time', status(504, { 'retry-after': '1' }), 1],
  ];
  for (const [what, answer, attempts] of answers)
    test(`${what}: ${attempts} attempts`, async () => {
      const { subresources, clock, transport } = against((_request, index) => (index === 0 ? answer : { body: '{}' }));
      const evicting = subresources.evictPod(name).catch(() => {});
      await settle();
      clock.advance(29_000);
      await evicting;
      assert.equal(transport.seen.length, attempts);
    });

  test('comes back after up to half as long again, at random', async () => {
    const { client, clock, transport } = against((_request, index) => (index === 0 ? refused(2) : { body: secret }), {
      random: () => 0.5,
    });
    const calling = client.get(secrets, name);
    await settle();
    clock.advance(2499);
    await settle();
    assert.equal(transport.seen.length, 1);
    clock.advance(1);
    await calling;
  });

  test('rejects at once when its deadline is nearer than the wait', async () => {
    const expected = { reason: 'tooManyRequests', retryAfterMs: 30_000 };
    await assert.rejects(against(() => refused(30)).client.get(secrets, name), expected);
    await assert.rejects(against(() => refused(30)).client.list(secrets), expected);
  });

  test('the pages of a list share one deadline', async () => {
    const { client, clock } = against((_request, index) => {
      clock.advance(20_000);
      if (index > 0) return refused(15);
      return { body: { metadata: { resourceVersion: '9', continue: 'more' }, items: [] } };
    });
    await assert.rejects(client.list(secrets, { deadlineMs: 50_000 }), { reason: 'tooManyRequests' });
    assert.equal(clock.monotonic(), 40_000);
  });

  test('rejects with the refusal when its deadline comes before its next turn', async () => {
    const { client, clock, transport } = against(
      (_request, index) => (index === 0 ? refused(4) : new Promise<never>(() => {})),
      { maxInFlight: 1 },
    );
    const calling = assert.rejects(client.get(secrets, name, { deadlineMs: 10_000 }), { reason: 'tooManyRequests' });
    void client.get(nodes, { name: 'a' }).catch(() => {});
    await settle();
    clock.advance(10_000);
    await calling;
    assert.equal(transport.seen.length, 2);
  });

  test('a refusal that asks for no wait is no busy loop', async () => {
    const { client, clock, transport } = against(() => refused(0));
    const calling = assert.rejects(client.get(secrets, name, { deadlineMs: 3500 }), { reason: 'tooManyRequests' });
    await settle();
    for (let second = 0; second < 4; second++) {
      clock.advance(1000);
      await settle();
    }
    await calling;
    assert.equal(transport.seen.length, 4);
  });
});

describe('while the server refuses requests of a priority level', () => {
  /** Answers each kind from its level. */
  const levels: Record<string, string> = { secrets: 'low', configmaps: 'low', nodes: 'high' };
  const harness = async (refusal: () => ReturnType<Script>, learned: boolean) => {
    let refuses = false;
    let refusals = 0;
    const sent: string[] = [];
    const { client, clock } = against(({ method, path }) => {
      const plural = /(secrets|configmaps|nodes|pods)/.exec(path)?.[0] ?? '';
      if (refuses) sent.push(`${method} ${plural}`);
      if (plural === 'secrets' && refusals++ === 0) return refusal();
      const level = levels[plural];
      return { code: 404, headers: learned && level ? { 'x-kubernetes-pf-prioritylevel-uid': level } : {} };
    });
    const ask = async (): Promise<void> => {
      const calls = [
        client.get(configMaps, name),
        client.get(nodes, { name: 'a' }),
        client.get(pods, name),
        client.delete(configMaps, name),
      ];
      void Promise.allSettled(calls);
      await settle();
    };
    await ask();
    refuses = true;
    void client.get(secrets, name).catch(() => {});
    await settle();
    sent.length = 0;
    await ask();
    return { sent, clock };
  };

  test('requests of that level wait, and others go', async () => {
    const { sent, clock } = await harness(() => refused(2, 'low'), true);
    assert.deepEqual(sent, ['GET nodes', 'GET pods']);
    clock.advance(2000);
    await settle();
    assert.deepEqual(sent.toSorted(), ['DELETE configmaps', 'GET configmaps', 'GET nodes', 'GET pods', 'GET secrets']);
  });

  test('a server without levels refuses reads or writes', async () => {
    const { sent } = await harness(() => refused(2), false);
    assert.deepEqual(sent, ['DELETE configmaps']);
  });

  test('a kind whose storage initialises stops no other kind', async () => {
    const { sent } = await harness(() => storageInitialises, true);
    assert.deepEqual(sent.toSorted(), ['DELETE configmaps', 'GET configmaps', 'GET nodes', 'GET pods']);
  });
});

/** A server with few seats and no queue, as with --max-requests-inflight: refuses what finds no seat. */
const seatedServer = (clock: ManualClock, seats: number, answerMs: () => number) => {
  let busy = 0;
  let refusals = 0;
  const script: Script = async () => {
    if (busy >= seats) {
      refusals++;
      return refused(1);
    }
    busy++;
    await new Promise<void>((resolve) => void clock.after(answerMs(), resolve));
    busy--;
    return { body: secret };
  };
  return { script, refusals: () => refusals };
};

test('however few seats a server has, all requests of a burst end well, and few are refused', async () => {
  const seats = fc.integer({ min: 1, max: 60 });
  const times = fc.infiniteStream(fc.integer({ min: 1, max: 40 }));
  await fc.assert(
    fc.asyncProperty(seats, times, fc.integer({ min: 1, max: 50 }), async (given, answerMs, maxInFlight) => {
      const clock = manualClock();
      const server = seatedServer(clock, given, () => answerMs.next().value ?? 1);
      const limiter = createRequestLimiter({ clock, random: () => 0.5, qps: 1000, burst: 1000, maxInFlight });
      const client = createClient(scriptedTransport(server.script), { clock, flow: limiter.flow('machine') });
      const calls = Array.from({ length: 200 }, () => client.get(secrets, name));
      const ended = new AbortController();
      const all = Promise.all(calls).finally(() => ended.abort());
      for (let elapsed = 0; !ended.signal.aborted && elapsed < 40_000; elapsed += 5) {
        clock.advance(5);
        await settle(3);
      }
      await all;
      // The first wave teaches the limit. After that, a window that grew too far costs as many as there are seats.
      const growths = clock.monotonic() / 10_000;
      const most = Math.max(0, maxInFlight - given) + growths * given;
      assert.ok(server.refusals() <= most, `${server.refusals()} refusals, at most ${most}`);
    }),
    { numRuns: 25 },
  );
});
