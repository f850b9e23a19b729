import assert from 'node:assert/strict';
import { test } from 'node:test';
import { collectText } from './body.ts';
import { type InProcessHandle, type InProcessRequest, inProcessTransport } from './in-process-transport.ts';
import type { TransportRequest } from './transport.ts';

const get = (more: Partial<TransportRequest> = {}): TransportRequest => ({
  method: 'GET',
  path: '/a%20b?c=d%26e',
  headers: { x: 'y' },
  signal: new AbortController().signal,
  ...more,
});

const streaming =
  (chunks: AsyncIterable<string | Uint8Array>, seen: InProcessRequest[] = []): InProcessHandle =>
  async (request) => {
    seen.push(request);
    return { kind: 'stream', code: 200, headers: { 'Content-Type': 'x' }, chunks };
  };

async function* silent(): AsyncGenerator<string> {
  yield 'begin';
  await new Promise(() => {});
}

test('a request and its response pass through unchanged', async () => {
  const seen: InProcessRequest[] = [];
  const user = { commonName: 'me', organizations: ['us'] };
  const transport = inProcessTransport(
    async (request) => {
      seen.push(request);
      return { kind: 'answer', code: 201, headers: { 'X-Answer': '1' }, body: 'grün' };
    },
    { user, headers: { authorization: 'Bearer t' } },
  );
  const answer = await transport.send(get({ method: 'POST', body: 'blau' }));
  assert.deepEqual([answer.code, answer.headers], [201, { 'x-answer': '1' }]);
  assert.equal(await collectText(answer.body, 100), 'grün');
  const [request] = seen;
  assert.deepEqual(
    [request?.method, request?.path, request?.query.get('c'), request?.headers, request?.certificate],
    ['POST', '/a%20b', 'd&e', { x: 'y', authorization: 'Bearer t' }, user],
  );
  assert.equal(Buffer.from(request?.body ?? '').toString(), 'blau');
});

test('the signal ends a stream, even if the server ignores it', async () => {
  const abort = new AbortController();
  const { body } = await inProcessTransport(streaming(silent())).send(get({ signal: abort.signal }));
  const chunks = body[Symbol.asyncIterator]();
  await chunks.next();
  const waiting = assert.rejects(chunks.next(), { name: 'KubeError', reason: 'aborted' });
  abort.abort();
  await waiting;
});

test("the server's signal aborts when the reader leaves an idle stream", async () => {
  const seen: InProcessRequest[] = [];
  const { body } = await inProcessTransport(streaming(silent(), seen)).send(get());
  const chunks = body[Symbol.asyncIterator]();
  await chunks.next();
  const waiting = assert.rejects(chunks.next(), { reason: 'aborted' });
  await chunks.return?.();
  assert.equal(seen[0]?.signal.aborted, true);
  await waiting;
});

test('an aborted signal sends nothing', async () => {
  const transport = inProcessTransport(() => assert.fail('sent'));
  await assert.rejects(transport.send(get({ signal: AbortSignal.abort() })), { reason: 'aborted' });
});

test('an answer that switches protocols is malformed', async () => {
  const upgrading = inProcessTransport(async () => ({ kind: 'upgrade', url: 'https://kubelet' }));
  await assert.rejects(upgrading.send(get()), { reason: 'malformed' });
});
