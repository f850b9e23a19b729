import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';
import { manualClock, type ManualClock } from '../clock/manual-clock.ts';
import { settle } from '../clock/testing/real-time.ts';
import { isKubeError, KubeError } from '../errors/kube-error.ts';
import { configMaps, nodes, secrets } from '../objects/builtin.ts';
import type { Client, WatchEvent } from './client.ts';
import { createClient } from './create-client.ts';
import { createSubresources } from './subresources.ts';
import { type Script, type ScriptedTransport, scriptedTransport } from './testing/scripted-transport.ts';

const metadata = {
  name: 'a',
  namespace: 'n',
  uid: 'u',
  resourceVersion: '5',
  creationTimestamp: '2026-01-01T00:00:00Z',
};
const secret = { apiVersion: 'v1', kind: 'Secret', metadata };
const name = { namespace: 'n', name: 'a' };
const gone = { code: 410, body: { kind: 'Status', reason: 'Expired', message: 'too old', code: 410 } };
const hang = (): Promise<never> => new Promise(() => {});

const against = (script: Script): { client: Client; transport: ScriptedTransport; clock: ManualClock } => {
  const transport = scriptedTransport(script);
  const clock = manualClock();
  return { client: createClient(transport, { clock }), transport, clock };
};

const page = (names: readonly string[], token = '', version = '9') => ({
  body: {
    kind: 'SecretList',
    apiVersion: 'v1',
    metadata: { resourceVersion: version, ...(token ? { continue: token } : {}) },
    items: names.map((each) => ({ metadata: { ...metadata, name: each } })),
  },
});

test('a call without an answer ends at its deadline, by the injected clock', async () => {
  const { client, clock, transport } = against(hang);
  const waiting = assert.rejects(client.get(secrets, name), (error) => isKubeError(error, 'timeout'));
  await settle();
  clock.advance(30_000);
  await waiting;
  assert.equal(transport.seen[0]?.signal.aborted, true);
});

test('the caller sets the deadline of a call, which includes the body', async () => {
  async function* drip(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{');
    await hang();
  }
  const { client, clock } = against(() => ({ body: drip() }));
  const waiting = assert.rejects(client.get(secrets, name, { deadlineMs: 5 }), {
    reason: 'timeout',
    message: /0.005 s/,
  });
  await settle();
  clock.advance(5);
  await waiting;
});

test('the pages of a list share one deadline', async () => {
  const { client, clock, transport } = against((_request, index) => {
    clock.advance(20_000);
    return page([`s${index}`], 'more');
  });
  await assert.rejects(client.list(secrets), { reason: 'timeout' });
  assert.equal(transport.seen.length, 2);
});

test('an abort signal ends a call at any time; one aborted before sends nothing', async () => {
  const { client, transport } = against(hang);
  const abort = new AbortController();
  const waiting = assert.rejects(client.get(secrets, name, { signal: abort.signal }), { reason: 'aborted' });
  await settle();
  abort.abort();
  await waiting;
  await assert.rejects(client.get(secrets, name, { signal: abort.signal }), { reason: 'aborted' });
  assert.equal(transport.seen.length, 1);
});

test('a response that is not the requested object is malformed', async () => {
  const bodies: unknown[] = [
    '',
    'gibberish',
    '{"kind":"Secret",',
    '[]',
    'null',
    { kind: 'Status', apiVersion: 'v1', status: 'Success', metadata: {} },
    { ...secret, kind: 'ConfigMap' },
    { ...secret, apiVersion: 'v2' },
    { ...secret, metadata: undefined },
    { ...secret, metadata: { ...metadata, name: '' } },
    { ...secret, metadata: { ...metadata, uid: 7 } },
    { ...secret, metadata: { ...metadata, resourceVersion: undefined } },
    { ...secret, metadata: { ...metadata, labels: { a: 1 } } },
    { ...secret, metadata: { ...metadata, finalizers: 'x' } },
    { ...secret, metadata: { ...metadata, ownerReferences: [{ name: 'x' }] } },
  ];
  for (const body of bodies) {
    const { client } = against(() => ({ body }));
    await assert.rejects(client.get(secrets, name), { name: 'KubeError', reason: 'malformed' }, JSON.stringify(body));
  }
  const { client } = against(() => ({ body: secret }));
  assert.deepEqual(await client.get(secrets, name), secret);
});

test('unknown fields are kept', async () => {
  const strange = { ...secret, future: { x: [1, { y: null }] }, metadata: { ...metadata, managedFields: [{ z: 1 }] } };
  const { client } = against(() => ({ body: strange }));
  assert.deepEqual(await client.get(secrets, name), strange);
});

test('a response that is no list is malformed; null items are an empty list', async () => {
  for (const body of [{}, { metadata: {} }, { metadata: { resourceVersion: '1' }, items: {} }, page(['']).body]) {
    await assert.rejects(against(() => ({ body })).client.list(secrets), { reason: 'malformed' });
  }
  const { client } = against(() => ({ body: { metadata: { resourceVersion: '1' }, items: null } }));
  assert.deepEqual(await client.list(secrets), { items: [], resourceVersion: '1' });
});

test('a list follows continue tokens, and has the resourceVersion of its first page', async () => {
  const { client, transport } = against((_request, index) =>
    page([`s${index}`], index < 2 ? `t${index}` : '', `${index}`),
  );
  const { items, resourceVersion } = await client.list(secrets, {
    pageSize: 1,
    labelSelector: 'a=b',
  });
  assert.deepEqual([items.length, resourceVersion], [3, '0']);
  assert.deepEqual(
    transport.seen.map(({ path }) => path.split('?')[1]),
    [
      'limit=1&labelSelector=a%3Db',
      'limit=1&labelSelector=a%3Db&continue=t0',
      'limit=1&labelSelector=a%3Db&continue=t1',
    ],
  );
});

test('a list whose continue token expires starts again from the first page', async () => {
  const { client } = against(
    (_request, index) => [page(['old'], 't'), gone, page(['x'], 't'), page(['y'])][index] ?? gone,
  );
  const { items } = await client.list(secrets);
  assert.deepEqual(
    items.map((item) => item.metadata.name),
    ['x', 'y'],
  );
});

test('each page of a list is transformed before the next is requested, and filtered objects are dropped', async () => {
  const steps: string[] = [];
  const { client } = against((_request, index) => {
    steps.push(`page ${index}`);
    return [page(['a', 'b'], 't'), gone, page(['c', 'd'], 't'), page(['e', 'f'])][index] ?? gone;
  });
  const { items } = await client.list(secrets, {
    transform: (secret) => {
      const { name } = secret.metadata;
      steps.push(name);
      return name === 'd' ? undefined : { ...secret, metadata: { ...secret.metadata, name: name.toUpperCase() } };
    },
  });
  assert.deepEqual(steps, ['page 0', 'a', 'b', 'page 1', 'page 2', 'c', 'd', 'page 3', 'e', 'f']);
  assert.deepEqual(
    items.map((item) => item.metadata.name),
    ['C', 'E', 'F'],
  );
});

test('a list whose continue token expires twice fails, and one whose first page fails does not retry', async () => {
  const twice = against((_request, index) => (index % 2 === 0 ? page(['a'], 't') : gone));
  await assert.rejects(twice.client.list(secrets), { name: 'KubeError', reason: 'expired' });
  assert.equal(twice.transport.seen.length, 4);
  const never = against(() => gone);
  await assert.rejects(never.client.list(secrets), { name: 'KubeError', reason: 'expired' });
  assert.equal(never.transport.seen.length, 1);
});

test('a connection cut within an error response still counts as that error', async () => {
  async function* cut(): AsyncGenerator<Uint8Array> {
    yield Buffer.from('{"kind":"Sta');
    throw new KubeError('unreachable', 'cut');
  }
  await assert.rejects(against(() => ({ code: 403, body: cut() })).client.get(secrets, name), { reason: 'forbidden' });
});

test('an unexpected error of the transport is reported as unreachable', async () => {
  const { client } = against(() => Promise.reject(new TypeError('defect')));
  await assert.rejects(client.get(secrets, name), { name: 'KubeError', reason: 'unreachable' });
});

test('an object that cannot be written as JSON is a bad request', async () => {
  const data: Record<string, unknown> = {};
  data['data'] = data;
  const { client } = against(() => ({ body: secret }));
  const patch = { type: 'merge', body: data } as const;
  await assert.rejects(client.patch(secrets, name, patch), { name: 'KubeError', reason: 'badRequest' });
});

const watched = async (body: unknown, code = 200): Promise<{ seen: string[]; error: unknown; left: number }> => {
  const { client, transport } = against(() => ({ code, body }));
  const seen: string[] = [];
  const show = (event: WatchEvent<object>): string =>
    event.type === 'BOOKMARK' ? `BOOKMARK ${event.resourceVersion}` : `${event.type} ${event.object.metadata.name}`;
  try {
    const { signal } = new AbortController();
    for await (const event of client.watch(secrets, { resourceVersion: '1', signal })) seen.push(show(event));
    return { seen, error: undefined, left: transport.left };
  } catch (error) {
    return { seen, error, left: transport.left };
  }
};
const frame = (type: string, object: unknown): string => `${JSON.stringify({ type, object })}\n`;

test('a watch yields events and bookmarks, and ends with its stream', async () => {
  const bookmark = { kind: 'Secret', apiVersion: 'v1', metadata: { resourceVersion: '8', creationTimestamp: null } };
  const { seen, error } = await watched(
    frame('ADDED', secret) + frame('MODIFIED', secret) + frame('BOOKMARK', bookmark) + frame('DELETED', secret),
  );
  assert.deepEqual([seen, error], [['ADDED a', 'MODIFIED a', 'BOOKMARK 8', 'DELETED a'], undefined]);
});

test('a watch fails on an ERROR event, on an invalid event, and on a truncated event', async () => {
  const cases: [body: string, reason: string][] = [
    [frame('ERROR', gone.body), 'expired'],
    [frame('ERROR', { kind: 'Status', code: 504, reason: 'Timeout' }), 'timeout'],
    [frame('ERROR', 'what'), 'malformed'],
    [frame('SURPRISE', secret), 'malformed'],
    [frame('ADDED', { ...secret, metadata: {} }), 'malformed'],
    [frame('BOOKMARK', { metadata: {} }), 'malformed'],
    ['7\n', 'malformed'],
    ['{"type":\n', 'malformed'],
    [frame('ADDED', secret).slice(0, -9), 'unreachable'],
  ];
  for (const [body, reason] of cases) {
    const { seen, error, left } = await watched(frame('ADDED', secret) + body);
    assert.deepEqual(
      [seen, isKubeError(error) && error.reason, left],
      [['ADDED a'], reason, body.endsWith('\n') ? 1 : 0],
    );
  }
  const refused = await watched(gone.body, 410);
  assert.ok(isKubeError(refused.error, 'expired'));
});

test('the deadline of a watch applies only to its start', async () => {
  const late = against(hang);
  const { signal } = new AbortController();
  const options = { resourceVersion: '1', signal };
  const first = late.client.watch(secrets, options)[Symbol.asyncIterator]().next();
  const waiting = assert.rejects(first, { reason: 'timeout' });
  await settle();
  late.clock.advance(30_000);
  await waiting;

  const release = Promise.withResolvers<void>();
  async function* slow(): AsyncGenerator<Uint8Array> {
    await release.promise;
    yield Buffer.from(frame('ADDED', secret));
  }
  const quiet = against(() => ({ body: slow() }));
  const event = quiet.client.watch(secrets, options)[Symbol.asyncIterator]().next();
  await settle();
  quiet.clock.advance(3_600_000);
  release.resolve();
  assert.equal((await event).value?.type, 'ADDED');
});

test('a watch ends with its signal even if the transport ignores the signal', async () => {
  async function* silent(): AsyncGenerator<Uint8Array> {
    yield Buffer.from(frame('ADDED', secret));
    await hang();
  }
  const { client } = against(() => ({ body: silent() }));
  const abort = new AbortController();
  const events = client.watch(secrets, { resourceVersion: '1', signal: abort.signal })[Symbol.asyncIterator]();
  await events.next();
  const waiting = assert.rejects(events.next(), { reason: 'aborted' });
  abort.abort();
  await waiting;
});

test('an eviction that must wait returns the wait time', async () => {
  const details = { retryAfterSeconds: 10, causes: [{ reason: 'DisruptionBudget', message: 'needs 1', field: 'a' }] };
  const body = { kind: 'Status', reason: 'TooManyRequests', message: 'budget', details };
  const transport = scriptedTransport(() => ({ code: 429, body }));
  const { evictPod } = createSubresources(transport, { clock: manualClock() });
  await assert.rejects(evictPod(name), { reason: 'tooManyRequests', retryAfterMs: 10_000, causes: details.causes });
  assert.equal(transport.seen[0]?.path, '/api/v1/namespaces/n/pods/a/eviction?fieldValidation=Strict');
});

test('a TokenRequest response without a token is malformed', async () => {
  const transport = scriptedTransport(() => ({ code: 201, body: { status: { token: '' } } }));
  const { createToken } = createSubresources(transport, { clock: manualClock() });
  await assert.rejects(createToken(name, {}), { reason: 'malformed' });
});

test('a logs request has the given options, and the body is streamed', async () => {
  const transport = scriptedTransport(() => ({ body: 'line\nline' }));
  const { podLogs } = createSubresources(transport, { clock: manualClock() });
  const chunks = await Array.fromAsync(podLogs(name, { container: 'c', follow: true }));
  assert.equal(Buffer.concat(chunks).toString(), 'line\nline');
  assert.equal(transport.seen[0]?.path, '/api/v1/namespaces/n/pods/a/log?container=c&follow=true');
});

test('requests have user-agent and content-type, and no credentials', async () => {
  const transport = scriptedTransport(() => ({ body: { ...secret, kind: 'ConfigMap' } }));
  const client = createClient(transport, { clock: manualClock(), userAgent: 'tartan-host/1' });
  await client.patch(configMaps, name, { type: 'strategic', body: { a: 1 } }, { subresource: 'status' });
  const [request] = transport.seen;
  assert.deepEqual(
    [request?.method, request?.path, request?.body, request?.headers],
    [
      'PATCH',
      '/api/v1/namespaces/n/configmaps/a/status?fieldValidation=Strict',
      '{"a":1}',
      {
        accept: 'application/json',
        'user-agent': 'tartan-host/1',
        'content-type': 'application/strategic-merge-patch+json',
      },
    ],
  );
  await assert.rejects(client.get(nodes, { name: 'system:a' }));
  assert.equal(transport.seen[1]?.path, '/api/v1/nodes/system%3Aa');
});

test('a long-lived signal keeps no listener of a finished call', async () => {
  const { signal } = new AbortController();
  const { client } = against((_request, index) => (index === 0 ? { body: secret } : { body: frame('ADDED', secret) }));
  await client.get(secrets, name, { signal });
  for await (const event of client.watch(secrets, { resourceVersion: '1', signal })) assert.equal(event.type, 'ADDED');
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});
