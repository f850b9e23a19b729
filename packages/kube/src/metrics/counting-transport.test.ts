import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KubeError } from '../errors/kube-error.ts';
import type { Transport, TransportRequest } from '../transport/transport.ts';
import { countingTransport } from './counting-transport.ts';
import type { CountedRequest } from './request-metrics.ts';

const request: TransportRequest = { method: 'GET', path: '/', headers: {}, signal: new AbortController().signal };

const setUp = (send: Transport['send']) => {
  const counted: CountedRequest[] = [];
  const inner: Transport = { send, open: () => assert.fail('opened'), close: () => {} };
  return { counted, transport: countingTransport(inner, { host: 'h:1', count: (one) => counted.push(one) }) };
};

test('an answer is counted by its code, whatever that is', async () => {
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
