import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { Agent, request as requestTls, type RequestOptions } from 'node:https';
import { connect, type Socket } from 'node:net';
import { after, afterEach, before, describe, it } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { gunzipSync } from 'node:zlib';
import { systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import fc from 'fast-check';
import { type ApiRequest, type ApiResponse, type Handle, jsonResponse } from '../http-messages.ts';
import { type CertificateRequest, type ClusterPki, createClusterPki, type KeyPair } from '../pki/pki.ts';
import { splitTarget } from './incoming-request.ts';
import { type Limits, serve, type Served } from './serve.ts';

describe('the HTTPS server', () => {
  let identity: ClusterPki;
  let stranger: ClusterPki;
  let open: Served[] = [];
  before(async () => {
    [identity, stranger] = await Promise.all([createClusterPki(systemClock), createClusterPki(systemClock)]);
  });
  afterEach(async () => {
    await Promise.all(open.map((served) => served.close()));
    open = [];
  });

  const echo: Handle = ({ method, path, query, headers, body, certificate, untrustedCertificate }) =>
    Promise.resolve(
      jsonResponse(200, {
        method,
        path,
        query: String(query),
        size: body.length,
        certificate,
        untrustedCertificate,
        a: headers['x-a'],
      }),
    );

  const start = async (handle: Handle = echo, limits: Partial<Limits> = {}, port = 0): Promise<Served> => {
    const served = await serve({ handle, identity, limits, port });
    open.push(served);
    return served;
  };

  interface Answer {
    code: number;
    headers: IncomingMessage['headers'];
    body: Buffer;
  }

  const read = async (outgoing: ClientRequest, body?: string | Buffer): Promise<Answer> => {
    outgoing.end(body);
    const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
    const parts: Buffer[] = [];
    for await (const part of response) parts.push(part as Buffer);
    return { code: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(parts) };
  };

  const ask = (served: Served, path = '/', options: RequestOptions = {}, body?: string | Buffer): Promise<Answer> =>
    read(requestTls(`${served.url}${path}`, { ca: identity.caCertificate, agent: false, ...options }), body);

  const json = ({ body }: Answer): Record<string, unknown> => JSON.parse(String(body)) as Record<string, unknown>;

  const raw = async ({ port }: Served, options: { key?: string; cert?: string } = {}): Promise<TLSSocket> => {
    const socket = connectTls({ port, host: '127.0.0.1', ca: identity.caCertificate, ...options });
    socket.on('error', () => socket.destroy());
    await once(socket, 'secureConnect');
    return socket;
  };

  /** Unlike `once`, ignores errors. */
  const closed = (stream: Socket | IncomingMessage): Promise<void> =>
    new Promise((resolve) => (stream.closed ? resolve() : void stream.once('close', resolve)));

  const everything = async (socket: Socket): Promise<string> => {
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    socket.on('error', () => socket.destroy());
    await closed(socket);
    return Buffer.concat(parts).toString('latin1');
  };

  const client = (by: ClusterPki, change: Partial<CertificateRequest> = {}): Promise<KeyPair> =>
    by.issue({
      commonName: 'system:node:mac-1',
      organizations: ['system:nodes', 'more'],
      usages: ['client auth', 'digital signature'],
      seconds: 3600,
      ...change,
    });

  const shown = ({ certificate, key }: KeyPair): { cert: string; key: string } => ({ cert: certificate, key });

  describe('the HTTPS server', () => {
    it('passes on method, path, query, headers and body', async () => {
      const served = await start();
      const answer = await ask(served, '/a%2Fb/c?x=1&x=2', { method: 'POST', headers: { 'X-A': ['1', '2'] } }, 'body');
      assert.equal(answer.headers['content-length'], String(answer.body.length));
      assert.deepEqual(json(answer), { method: 'POST', path: '/a%2Fb/c', query: 'x=1&x=2', size: 4, a: '1, 2' });
    });

    it('has a certificate for every local name', async () => {
      const served = await start();
      for (const servername of ['localhost', 'kubernetes.default.svc']) {
        assert.equal((await ask(served, '/', { servername })).code, 200);
      }
      await assert.rejects(ask(served, '/', { servername: 'example.com' }), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' });
    });

    it('answers a HEAD without a body', async () => {
      const served = await start(() => Promise.resolve(jsonResponse(200, { a: 1 })));
      const { headers, body } = await ask(served, '/', { method: 'HEAD' });
      assert.deepEqual([headers['content-length'], body.length], ['8', 0]);
      const streaming = await start(() => Promise.resolve(stream(['never'])));
      assert.equal((await ask(streaming, '/', { method: 'HEAD' })).body.length, 0);
    });

    it('sends no body where there is none', async () => {
      const served = await start(() => Promise.resolve({ kind: 'answer', code: 204, headers: {}, body: '' }));
      const { code, headers } = await ask(served);
      assert.deepEqual([code, headers['content-length'], headers['transfer-encoding']], [204, undefined, undefined]);
    });

    it('compresses large JSON if the client accepts it', async () => {
      const large = { a: 'x'.repeat(200_000) };
      const served = await start(({ path }) =>
        Promise.resolve(
          path === '/large'
            ? jsonResponse(200, large, { vary: 'Accept' })
            : path === '/text'
              ? { kind: 'answer', code: 200, headers: { 'content-type': 'text/plain' }, body: large.a }
              : jsonResponse(200, { a: 'x'.repeat(1000) }),
        ),
      );
      const accept = { headers: { 'accept-encoding': 'br, gzip' } };
      const { headers, body } = await ask(served, '/large', accept);
      assert.deepEqual([headers['content-encoding'], headers.vary], ['gzip', 'Accept, Accept-Encoding']);
      assert.equal(headers['content-length'], String(body.length));
      assert.deepEqual(JSON.parse(String(gunzipSync(body))), large);
      for (const [path, options] of [
        ['/large', {}],
        ['/large', { headers: { 'accept-encoding': 'gzipped' } }],
        ['/small', accept],
        ['/text', accept],
      ] as const) {
        assert.equal((await ask(served, path, options)).headers['content-encoding'], undefined);
      }
    });

    it('reports a port in use', async () => {
      const { port } = await start();
      await assert.rejects(start(echo, {}, port), {
        message: `Port ${port} on 127.0.0.1 is already in use, so the API server cannot listen there. Stop what uses it, or choose another port.`,
      });
    });

    it('answers with a Status when the handler fails', async () => {
      const served = await start(() => Promise.reject(new Error('secret inside')));
      const answer = await ask(served);
      assert.equal(answer.code, 500);
      assert.equal(json(answer)['kind'], 'Status');
      assert.doesNotMatch(String(answer.body), /secret/);
    });

    it('keeps a connection for the next request', async () => {
      const served = await start();
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const first = requestTls(served.url, { ca: identity.caCertificate, agent });
      await read(first);
      const second = requestTls(served.url, { ca: identity.caCertificate, agent });
      await read(second);
      assert.ok(second.reusedSocket);
      agent.destroy();
    });
  });

  describe('a client certificate', () => {
    const who = async (served: Served, options: RequestOptions): Promise<Record<string, unknown>> => {
      const { certificate, untrustedCertificate } = json(await ask(served, '/', options));
      return { certificate, untrustedCertificate };
    };

    it('of this cluster identifies the client', async () => {
      const { certificate } = await who(await start(), shown(await client(identity)));
      const { fingerprint, ...subject } = certificate as Record<string, unknown>;
      assert.deepEqual(subject, { commonName: 'system:node:mac-1', organizations: ['system:nodes', 'more'] });
      assert.match(String(fingerprint), /^[0-9a-f]{64}$/);
    });

    for (const [which, by, change] of [
      ['of somebody else', () => stranger, {}],
      ['that is for servers', () => identity, { usages: ['server auth', 'digital signature'] }],
      ['that has expired', () => identity, { seconds: -1 }],
    ] as const) {
      it(`${which} proves nothing`, async () => {
        const pair = await client(by(), change);
        assert.deepEqual(await who(await start(), shown(pair)), { certificate: undefined, untrustedCertificate: true });
      });
    }

    it('is not assumed for a resumed session without one', async () => {
      const served = await start();
      const first = connectTls({ port: served.port, host: '127.0.0.1', ca: identity.caCertificate });
      const [session] = (await once(first, 'session')) as [Buffer];
      first.destroy();
      const second = connectTls({ port: served.port, host: '127.0.0.1', ca: identity.caCertificate, session });
      await once(second, 'secureConnect');
      assert.ok(second.isSessionReused());
      second.write('GET / HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
      const text = await everything(second);
      assert.match(text, /200 OK/);
      assert.doesNotMatch(text, /ertificate/);
    });
  });

  const stream = (chunks: Iterable<string> | AsyncIterable<string | Uint8Array>): ApiResponse => ({
    kind: 'stream',
    code: 200,
    headers: { 'content-type': 'application/json' },
    chunks: (async function* () {
      yield* chunks;
    })(),
  });

  /** A source that the test feeds, and that records how it ends. */
  const source = (): {
    push(text: string): void;
    fail(): void;
    chunks: AsyncIterable<string>;
    ended: Promise<void>;
  } => {
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    let next = Promise.withResolvers<string>();
    return {
      push: (text) => {
        next.resolve(text);
        next = Promise.withResolvers();
      },
      fail: () => next.reject(new Error('broken')),
      ended,
      chunks: {
        [Symbol.asyncIterator]: () => ({
          next: async () => ({ done: false as const, value: await next.promise }),
          return: () => {
            end();
            return Promise.resolve({ done: true as const, value: undefined });
          },
        }),
      },
    };
  };

  describe('a stream', () => {
    const watch = async (served: Served): Promise<IncomingMessage> => {
      const outgoing = requestTls(served.url, { ca: identity.caCertificate, agent: false });
      outgoing.on('error', () => {});
      outgoing.end();
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      response.on('error', () => {});
      return response;
    };
    const serveSource =
      (feed: ReturnType<typeof source>, signals: AbortSignal[] = []): Handle =>
      (request) => {
        signals.push(request.signal);
        return Promise.resolve({ kind: 'stream', code: 200, headers: {}, chunks: feed.chunks });
      };

    it('reaches the client chunk by chunk, headers first', async () => {
      const feed = source();
      const response = await watch(await start(serveSource(feed)));
      for (const text of ['one\n', 'two\n']) {
        const arrived = once(response, 'data') as Promise<[Buffer]>;
        feed.push(text);
        assert.equal(String((await arrived)[0]), text);
      }
    });

    it('stops when the client disconnects', async () => {
      const feed = source();
      const signals: AbortSignal[] = [];
      const response = await watch(await start(serveSource(feed, signals)));
      response.destroy();
      await feed.ended;
      assert.ok(signals[0]?.aborted);
    });

    it('ends cleanly when the server closes', async () => {
      const feed = source();
      const served = await start(serveSource(feed));
      const response = await watch(served);
      response.resume();
      const ended = once(response, 'end');
      await served.close();
      await ended;
      assert.ok(response.complete);
      await feed.ended;
    });

    it('is cut when its source fails, so that the client sees that it is incomplete', async () => {
      const feed = source();
      const response = await watch(await start(serveSource(feed)));
      response.resume();
      feed.fail();
      await closed(response);
      assert.equal(response.complete, false);
    });

    it('waits for a slow client', async () => {
      let produced = 0;
      const chunk = 'x'.repeat(256 * 1024);
      const chunks = (async function* (): AsyncGenerator<string> {
        for (; produced < 400; produced++) yield chunk;
      })();
      const response = await watch(
        await start(() => Promise.resolve({ kind: 'stream', code: 200, headers: {}, chunks })),
      );
      // The client reads nothing, so only the buffers fill up: far below the 100 MB on offer.
      let before = -1;
      while (before !== produced) {
        before = produced;
        for (let turns = 0; turns < 200; turns++) await new Promise((resolve) => void setImmediate(resolve));
      }
      assert.ok(produced < 200, `${produced} chunks were taken without a reader`);
      let size = 0;
      for await (const part of response) size += (part as Buffer).length;
      assert.equal(size, 400 * chunk.length);
    });
  });

  describe('a body', () => {
    it('above the limit is refused with a readable Status', async () => {
      const served = await start(echo, { bodyBytes: 1000 });
      for (const headers of [{ 'content-length': 5000 }, { 'transfer-encoding': 'chunked' }]) {
        const answer = await ask(served, '/', { method: 'POST', headers }, Buffer.alloc(5000));
        assert.equal(answer.code, 413);
        assert.deepEqual(json(answer), {
          kind: 'Status',
          apiVersion: 'v1',
          metadata: {},
          status: 'Failure',
          message: 'Request entity too large: limit is 1000',
          reason: 'RequestEntityTooLarge',
          code: 413,
        });
      }
      assert.equal(json(await ask(served, '/', { method: 'POST' }, Buffer.alloc(1000)))['size'], 1000);
    });

    it('may be as large as on the real server', async () => {
      const served = await start();
      const limit = 3 * 1024 * 1024;
      assert.equal((await ask(served, '/', { method: 'POST' }, Buffer.alloc(limit))).code, 200);
      for (const size of [limit + 1, 5 * limit]) {
        assert.equal((await ask(served, '/', { method: 'POST' }, Buffer.alloc(size))).code, 413);
      }
    });

    it('without end is cut off', async () => {
      const served = await start(echo, { bodyBytes: 1000 });
      const socket = await raw(served);
      socket.write('POST / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n');
      socket.resume();
      const part = `400\r\n${'x'.repeat(1024)}\r\n`;
      const pump = (): void => {
        while (!socket.destroyed && socket.write(part));
      };
      socket.on('drain', pump);
      pump();
      await closed(socket);
    });

    for (const [what, text] of [
      ['headers', 'GET / HTTP/1.1\r\nHost: h\r\nX-Slow: '],
      ['a body', 'POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc'],
      ['nothing', ''],
    ] as const) {
      it(`that is sent too slowly does not hold a socket: ${what}`, async () => {
        let handled = 0;
        const served = await start(
          (request) => {
            handled++;
            return echo(request);
          },
          { headersMilliseconds: 50, requestMilliseconds: 50, checkMilliseconds: 10 },
        );
        const socket = await raw(served);
        if (text !== '') socket.write(text);
        await everything(socket);
        assert.equal(handled, 0);
      });
    }
  });

  describe('a misbehaving client', () => {
    const connections = (): number =>
      process.getActiveResourcesInfo().filter((name) => name.startsWith('TCPSocket')).length;
    let served: Served;
    /** Of other test files in this process. */
    let others: number;
    const fine = async (): Promise<void> => assert.equal((await ask(served)).code, 200);
    before(async () => {
      others = connections();
      served = await serve({ identity, handle: echo, limits: { bodyBytes: 1000 } });
    });
    after(async () => {
      await served.close();
    });

    const judged = (sent: string): void => {
      const text = sent.replaceAll('HTTP/1.1 100 Continue\r\n\r\n', '');
      if (text === '') return;
      const last = text.slice(text.lastIndexOf('HTTP/1.1 '));
      assert.match(last, /^HTTP\/1\.1 [2345]\d\d /);
      if (!last.startsWith('HTTP/1.1 2'))
        assert.equal((JSON.parse(last.split('\r\n\r\n')[1] ?? '') as { kind: string }).kind, 'Status');
    };

    it('gets a Status or a closed socket for any bytes at all', async () => {
      const line = fc
        .constantFrom('GET', 'POST', 'PATCH', 'OPTIONS', 'CONNECT', 'FOO', '')
        .chain((method) =>
          fc
            .constantFrom('/', '*', '//x', 'http://h/x?y', '/a b', '/%', '\\', '?')
            .map((target) => `${method} ${target} HTTP/1.1\r\n`),
        );
      const header = fc.constantFrom(
        'Host: h\r\n',
        'Content-Length: 3\r\n',
        'Content-Length: -1\r\n',
        'Content-Length: 1e3\r\n',
        'Content-Length: 99999999999999999999\r\n',
        'Transfer-Encoding: chunked\r\n',
        'Connection: Upgrade\r\n',
        'Upgrade: websocket\r\n',
        'Expect: 100-continue\r\n',
        '__proto__: x\r\n',
        'A\0: b\r\n',
      );
      const almost = fc
        .tuple(line, fc.array(header, { maxLength: 4 }), fc.constantFrom('\r\n', ''), fc.string())
        .map(([first, headers, end, body]) => Buffer.from(`${first}${headers.join('')}${end}${body}`, 'latin1'));
      await fc.assert(
        fc.asyncProperty(
          fc.oneof(
            fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
            almost,
          ),
          async (bytes) => {
            const socket = await raw(served);
            const answer = everything(socket);
            socket.end(bytes);
            judged(await answer);
          },
        ),
        { numRuns: 80 },
      );
      await fine();
    });

    it('may not use TLS', async () => {
      await fc.assert(
        fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), async (bytes) => {
          const socket = connect(served.port, '127.0.0.1');
          const end = everything(socket);
          socket.end(bytes);
          await end;
        }),
        { numRuns: 20 },
      );
      const plain = request({ port: served.port, host: '127.0.0.1' });
      await assert.rejects(read(plain));
      await fine();
    });

    it('may stop in the middle of its TLS handshake', async () => {
      const impatient = await start(echo, { headersMilliseconds: 50 });
      const socket = connect(impatient.port, '127.0.0.1');
      socket.write(Buffer.from([0x16]));
      await everything(socket);
    });

    it('may disconnect at any byte of its request', async () => {
      const text = 'POST /x HTTP/1.1\r\nHost: h\r\nContent-Length: 20\r\n\r\n01234567890123456789';
      await fc.assert(
        fc.asyncProperty(fc.nat(text.length), fc.boolean(), async (length, rudely) => {
          const tcp = connect(served.port, '127.0.0.1');
          tcp.on('error', () => tcp.destroy());
          const socket = connectTls({ socket: tcp, ca: identity.caCertificate, servername: 'localhost' });
          await once(socket, 'secureConnect');
          const end = everything(socket);
          socket.write(text.slice(0, length), () => (rudely ? tcp.resetAndDestroy() : tcp.destroy()));
          await end;
        }),
        { numRuns: 40 },
      );
      await fine();
    });

    it('may send a second request during a response', async () => {
      const socket = await raw(served);
      socket.write('GET /1 HTTP/1.1\r\nHost: h\r\n\r\nGET /2 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n');
      const text = await everything(socket);
      assert.match(text, /"path":"\/1"[\s\S]*"path":"\/2"/);
    });

    it('leaves no open connection', async () => {
      await served.close();
      await eventually('no connection is left', () => connections() <= others);
      await assert.rejects(fine(), { code: 'ECONNREFUSED' });
    });
  });

  describe('closing', () => {
    it('does not wait for idle connections', async () => {
      const served = await start();
      const silent = connect(served.port, '127.0.0.1');
      await once(silent, 'connect');
      const idle = await raw(served);
      const half = await raw(served);
      half.write('POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nabc');
      const all = Promise.all([silent, idle, half].map(everything));
      await served.close();
      await all;
    });

    it('waits for a response in progress', async () => {
      const { promise: asked, resolve: note } = Promise.withResolvers<ApiRequest>();
      const { promise: answer, resolve } = Promise.withResolvers<ApiResponse>();
      const served = await start((incoming) => {
        note(incoming);
        return answer;
      });
      const answered = ask(served);
      const { signal } = await asked;
      const closed = served.close();
      assert.ok(signal.aborted);
      resolve(jsonResponse(200, {}));
      assert.equal((await answered).code, 200);
      await closed;
    });
  });

  describe('the target of a request', () => {
    for (const [target, path, query] of [
      ['/a?b=c', '/a', 'b=c'],
      ['/a?b?c', '/a', 'b%3Fc='],
      ['https://host:1/a?b=c', '/a', 'b=c'],
      ['//a//b', '//a//b', ''],
      ['*', '*', ''],
    ] as const) {
      it(`${target} is ${path} with [${query}]`, () => {
        const split = splitTarget(target);
        assert.deepEqual([split.path, String(split.query)], [path, query]);
      });
    }
  });
});
