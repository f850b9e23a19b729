import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { manualClock } from '../clock/manual-clock.ts';
import { settle } from '../clock/testing/real-time.ts';
import { secrets } from '../objects/builtin.ts';
import { createClient } from './create-client.ts';
import { createRequestLimiter, type RequestLimits } from './request-limiter.ts';
import { type Script, scriptedTransport } from './testing/scripted-transport.ts';

const metadata = {
  name: 'a',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '5',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const secret = { apiVersion: 'v1', kind: 'Secret', metadata };
const name = { namespace: 'n', name: 'a' };
const hang = (): Promise<never> => new Promise(() => {});

const against = (script: Script, limits: Partial<RequestLimits> = {}) => {
  const transport = scriptedTransport(script);
  const clock = manualClock();
  const limiter = createRequestLimiter({ clock, random: () => 0, qps: 100, burst: 100, maxInFlight: 1, ...limits });
  const clientFor = (flow: string) => createClient(transport, { clock, flow: limiter.flow(flow) });
  return { transport, clock, clientFor, client: clientFor('machine') };
};

describe('a client with a limiter', () => {
  test('a request holds its place until its body is read', async () => {
    const body = Promise.withResolvers<void>();
    async function* slow(): AsyncGenerator<Uint8Array> {
      await body.promise;
      yield Buffer.from(JSON.stringify(secret));
    }
    const { client, transport } = against((_request, index) => ({ body: index === 0 ? slow() : secret }));
    const both = Promise.all([client.get(secrets, name), client.get(secrets, name)]);
    await settle();
    assert.equal(transport.seen.length, 1);
    body.resolve();
    await both;
    assert.equal(transport.seen.length, 2);
  });

  test('a watch holds its place until its headers come', async () => {
    const stop = new AbortController();
    const headers = Promise.withResolvers<void>();
    async function* silent(): AsyncGenerator<Uint8Array> {
      await hang();
      yield Buffer.from('');
    }
    const { client, transport } = against(async ({ path }) => {
      if (!path.includes('watch=true')) return { body: secret };
      await headers.promise;
      return { body: silent() };
    });
    const events = client.watch(secrets, { resourceVersion: '1', signal: stop.signal });
    const watching = events[Symbol.asyncIterator]().next();
    const reading = client.get(secrets, name);
    await settle();
    assert.equal(transport.seen.length, 1);
    headers.resolve();
    await reading;
    stop.abort();
    await assert.rejects(watching, { reason: 'aborted' });
  });

  test('a list holds a place per page, so that others go between its pages', async () => {
    const { clientFor, transport } = against(({ path }, index) =>
      path.includes('limit=')
        ? { body: { metadata: { resourceVersion: '9', ...(index < 4 ? { continue: `${index}` } : {}) }, items: [] } }
        : { body: secret },
    );
    const listing = clientFor('caches').list(secrets);
    const others = Promise.all([clientFor('sweep').get(secrets, name), clientFor('fleet').get(secrets, name)]);
    await Promise.all([listing, others]);
    const kinds = transport.seen.map(({ path }) => (path.includes('limit=') ? 'page' : 'get'));
    assert.deepEqual(kinds, ['page', 'get', 'get', 'page', 'page']);
  });

  test('a failed, refused or malformed request gives its place back', async () => {
    const { client } = against((_request, index) => {
      if (index === 0) throw new Error('the network is gone');
      if (index === 1) return { code: 403, body: { kind: 'Status', message: 'no', code: 403 } };
      return { body: index === 2 ? 'gibberish' : secret };
    });
    await assert.rejects(client.get(secrets, name), { reason: 'unreachable' });
    await assert.rejects(client.get(secrets, name), { reason: 'forbidden' });
    await assert.rejects(client.get(secrets, name), { reason: 'malformed' });
    await client.get(secrets, name);
  });

  test('a request that waits past its deadline was not sent, and says so', async () => {
    const { client, clock, transport } = against(hang);
    const first = assert.rejects(client.get(secrets, name), {
      reason: 'timeout',
      message: /may have been carried out/,
    });
    const second = assert.rejects(client.get(secrets, name, { deadlineMs: 20_000 }), {
      reason: 'timeout',
      message: /^Cannot get secrets n\/a: not sent/,
    });
    await settle();
    clock.advance(20_000);
    await second;
    clock.advance(10_000);
    await first;
    assert.equal(transport.seen.length, 1);
  });

  test('a transport that ignores its signal does not keep the place', async () => {
    const { client, clock } = against((_request, index) => (index === 0 ? hang() : { body: secret }));
    const first = assert.rejects(client.get(secrets, name), { reason: 'timeout' });
    await settle();
    clock.advance(30_000);
    await first;
    await client.get(secrets, name);
  });
});
