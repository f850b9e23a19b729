import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, it } from 'node:test';
import { listen } from './listen.ts';

describe('a server', () => {
  it('returns its address, also with a port chosen by the system, and does not handle later errors', async () => {
    const server = createServer();
    const { host, port } = await listen(server, 'it', '127.0.0.1', 0);
    assert.equal(host, '127.0.0.1');
    assert.ok(port > 0);
    assert.equal(server.listenerCount('error'), 0);
    server.close();
    await once(server, 'close');
  });

  it('that cannot listen is an error with name, reason and advice', async () => {
    const first = createServer();
    const { port } = await listen(first, 'the first', '127.0.0.1', 0);
    await assert.rejects(listen(createServer(), 'the second', '127.0.0.1', port), (error: Error) => {
      assert.match(
        error.message,
        /^the second cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.*Choose another address/,
      );
      assert.ok(error.cause instanceof Error);
      return true;
    });
    first.close();
    await once(first, 'close');
  });
});
