import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer as createHttpsServer, type Server } from 'node:https';
import { type AddressInfo, createServer as createNetServer, type Server as NetServer, type Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createServer as createTlsServer, type TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { systemClock } from '../clock/clock.ts';
import { manualClock } from '../clock/manual-clock.ts';
import { isKubeError, type KubeErrorReason } from '../errors/kube-error.ts';
import { collectText } from './body.ts';
import type { HttpsTransportOptions } from './https-connection.ts';
import { httpsTransport } from './https-transport.ts';
import type { Transport, TransportRequest } from './transport.ts';

describe('the HTTPS transport', () => {
  type Identity = Kubernetes['identity'];
  let identity: Identity;
  let key: string;
  let cert: string;
  const closing: (() => Promise<unknown>)[] = [];

  const serverCertificate = (from: Identity, dnsNames: readonly string[] = ['localhost'], seconds = 3600) =>
    from.issue({
      commonName: 'server',
      organizations: [],
      addresses: dnsNames.includes('localhost') ? ['127.0.0.1'] : [],
      dnsNames,
      usages: ['server auth', 'digital signature'],
      seconds,
    });
  const clientCertificate = async (commonName: string): Promise<{ cert: string; key: string }> => {
    const issued = await identity.issue({
      commonName,
      organizations: [],
      usages: ['client auth', 'digital signature'],
      seconds: 3600,
    });
    return { cert: issued.certificate, key: issued.key };
  };

  before(async () => {
    ({ identity } = await createKubernetes({ controllers: false }));
    ({ certificate: cert, key } = await serverCertificate(identity));
  });
  after(() => Promise.all(closing.map((close) => close())));

  interface Listening {
    url: string;
    port: number;
    sockets: Set<Socket>;
    /** Connections so far. */
    opened: number;
    close(): Promise<unknown>;
  }

  const listen = async (server: NetServer | Server): Promise<Listening> => {
    const sockets = new Set<Socket>();
    const listening: Listening = {
      url: '',
      port: 0,
      sockets,
      opened: 0,
      close: () => {
        for (const socket of sockets) socket.destroy();
        return new Promise((resolve) => void server.close(resolve));
      },
    };
    server.on('connection', (socket: Socket) => {
      listening.opened++;
      sockets.add(socket);
      socket.on('error', () => {});
      socket.once('close', () => sockets.delete(socket));
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => listening.close());
    listening.port = (server.address() as AddressInfo).port;
    listening.url = `https://127.0.0.1:${listening.port}`;
    return listening;
  };

  /** The server keeps connections for longer than any test: only the client closes one early. */
  const serveHttps = (onRequest: RequestListener): Promise<Listening> =>
    listen(
      createHttpsServer(
        {
          key,
          cert,
          ca: identity.caCertificate,
          requestCert: true,
          rejectUnauthorized: false,
          keepAliveTimeout: 600_000,
        },
        onRequest,
      ),
    );

  /** A TLS server with an arbitrary handler. */
  const serveTls = (onSocket: (socket: TLSSocket) => void): Promise<Listening> =>
    listen(
      createTlsServer({ key, cert }, (socket) => {
        socket.on('error', () => {});
        onSocket(socket);
      }),
    );

  const connect = ({ url }: Pick<Listening, 'url'>, options: Partial<HttpsTransportOptions> = {}): Transport => {
    const transport = httpsTransport({
      server: url,
      ca: identity.caCertificate,
      credentials: () => ({}),
      clock: systemClock,
      ...options,
    });
    closing.push(async () => transport.close());
    return transport;
  };

  const get = (path = '/', more: Partial<TransportRequest> = {}): TransportRequest => ({
    method: 'GET',
    path,
    headers: {},
    signal: new AbortController().signal,
    ...more,
  });

  const read = async (transport: Transport, request = get()): Promise<string> => {
    const { body } = await transport.send(request);
    return collectText(body, 1e9);
  };

  const fails = async (work: Promise<unknown>, reason: KubeErrorReason, text: RegExp): Promise<void> => {
    await assert.rejects(work, { name: 'KubeError', reason, message: text });
  };

  test('requests share a connection, and carry their method, headers and body', async () => {
    const seen: unknown[] = [];
    const server = await serveHttps((incoming, response) => {
      let body = '';
      incoming.on('data', (chunk: Buffer) => (body += chunk.toString()));
      incoming.on('end', () => {
        seen.push([incoming.method, incoming.url, incoming.headers['authorization'], incoming.headers['x'], body]);
        response.setHeader('X-Answer', ['1', '2']);
        response.writeHead(201).end('tschüß');
      });
    });
    const transport = connect(
      { url: `${server.url}/base/` },
      { credentials: async () => ({ headers: { authorization: 'Bearer t' } }) },
    );
    const answer = await transport.send(get('/a?b=c', { method: 'POST', headers: { x: 'y' }, body: 'größe' }));
    assert.equal(await collectText(answer.body, 100), 'tschüß');
    assert.deepEqual([answer.code, answer.headers['x-answer']], [201, '1, 2']);
    await read(transport);
    assert.deepEqual(seen, [
      ['POST', '/base/a?b=c', 'Bearer t', 'y', 'größe'],
      ['GET', '/base/', 'Bearer t', undefined, ''],
    ]);
    assert.equal(server.opened, 1);
  });

  test('a token that changes is used from the next request on', async () => {
    const server = await serveHttps((incoming, response) => response.end(incoming.headers['authorization']));
    let token = 0;
    const transport = connect(server, { credentials: () => ({ headers: { authorization: `Bearer ${token++}` } }) });
    assert.deepEqual([await read(transport), await read(transport)], ['Bearer 0', 'Bearer 1']);
    assert.equal(server.opened, 1);
  });

  test('refresh is called after a 401', async () => {
    const server = await serveHttps((_incoming, response) => response.writeHead(401).end());
    const credentials = { headers: { authorization: 'Bearer old' } };
    const rejected: unknown[] = [];
    const transport = connect(server, { credentials: () => credentials, refresh: (each) => rejected.push(each) });
    assert.equal((await transport.send(get())).code, 401);
    assert.deepEqual(rejected, [credentials]);
  });

  test('a changed certificate is used on a new connection, while requests on the old one continue', async () => {
    const held: ServerResponse[] = [];
    const name = ({ socket }: IncomingMessage): string =>
      String((socket as TLSSocket).getPeerCertificate().subject?.CN);
    const server = await serveHttps((incoming, response) => {
      if (incoming.url === '/held') {
        response.write('begin ');
        held.push(response);
      } else response.end(name(incoming));
    });
    let certificate = await clientCertificate('first');
    const transport = connect(server, { credentials: () => ({ certificate }) });
    assert.equal(await read(transport), 'first');
    const answer = await transport.send(get('/held'));
    certificate = await clientCertificate('second');
    assert.equal(await read(transport), 'second');
    held[0]?.end('end');
    assert.equal(await collectText(answer.body, 100), 'begin end');
    assert.equal(server.opened, 2);
    assert.equal(await read(transport), 'second');
    while (server.sockets.size > 1) await new Promise((resolve) => setImmediate(resolve));
  });

  test('unreadable credentials are reported, and the request is not sent', async () => {
    const server = await serveHttps((_incoming, response) => response.end());
    const failing = connect(server, { credentials: () => Promise.reject(new Error('/token: no such file')) });
    await fails(failing.send(get()), 'unauthorized', /No credentials .*\/token: no such file/);
    const abort = new AbortController();
    const hanging = connect(server, { credentials: () => new Promise(() => {}) });
    const waiting = fails(hanging.send(get('/', { signal: abort.signal })), 'aborted', /./);
    abort.abort();
    await waiting;
    assert.equal(server.opened, 0);
  });

  test('an invalid client certificate is reported as such', async () => {
    const server = await serveHttps((_incoming, response) => response.end());
    const bad = connect(server, { credentials: () => ({ certificate: { cert: 'secret cert', key: 'secret key' } }) });
    await assert.rejects(bad.send(get()), (error: unknown) => {
      assert.ok(isKubeError(error, 'unauthorized'));
      assert.match(error.message, /must be PEM/);
      assert.doesNotMatch(error.message, /secret/);
      return true;
    });
  });

  test('connection refused and a plain HTTP port have distinct errors', async () => {
    const server = await serveHttps((_incoming, response) => response.end());
    await server.close();
    await fails(
      connect(server).send(get()),
      'unreachable',
      new RegExp(`127.0.0.1:${server.port}: the connection was refused`),
    );
    const plain = await listen(createNetServer((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n')));
    await fails(connect(plain).send(get()), 'unreachable', /does not speak TLS/);
    assert.throws(() => connect({ url: 'http://127.0.0.1' }), { name: 'KubeError', message: /must be an https/ });
  });

  test('a server with an untrusted certificate does not get the request', async () => {
    let asked = 0;
    const server = await serveHttps((_incoming, response) => {
      asked++;
      response.end('hello');
    });
    const stranger = await createKubernetes({ controllers: false });
    const { caCertificate } = stranger.identity;
    await fails(
      connect(server, { ca: caCertificate }).send(get()),
      'unreachable',
      /not signed by the configured authority/,
    );
    await fails(connect(server, { serverName: 'other.example' }).send(get()), 'unreachable', /for other names/);
    assert.equal(asked, 0);
    assert.equal(await read(connect(server, { ca: caCertificate, insecureSkipTlsVerify: true })), 'hello');
    assert.equal(await read(connect(server, { serverName: 'localhost' })), 'hello');
  });

  test('an expired server certificate is reported as expired', async () => {
    const past = await createKubernetes({ clock: manualClock(systemClock.now() - 7_200_000), controllers: false });
    const old = await serverCertificate(past.identity);
    const server = await listen(
      createHttpsServer({ key: old.key, cert: old.certificate }, (_in, response) => response.end()),
    );
    await fails(connect(server, { ca: past.identity.caCertificate }).send(get()), 'unreachable', /has expired/);
  });

  test('a server that accepts but does not answer runs into the connect timeout of the injected clock', async () => {
    const clock = manualClock();
    const silent = createNetServer();
    const server = await listen(silent);
    const transport = connect(server, { clock, connectTimeoutMs: 5_000 });
    const waiting = fails(transport.send(get()), 'timeout', /no connection within 5 s/);
    await once(silent, 'connection');
    clock.advance(5_000);
    await waiting;
  });

  test('the connect timeout does not apply once there is a connection', async () => {
    const clock = manualClock();
    const answers: ServerResponse[] = [];
    const asked = Promise.withResolvers<void>();
    const server = await serveHttps((_incoming, response) => {
      answers.push(response);
      asked.resolve();
    });
    const answer = read(connect(server, { clock, connectTimeoutMs: 5_000 }));
    await asked.promise;
    clock.advance(60_000);
    answers[0]?.end('late');
    assert.equal(await answer, 'late');
  });

  test('a connection that breaks before the answer, or within it, is unreachable', async () => {
    const early = await serveTls((socket) => socket.once('data', () => socket.destroy()));
    await fails(connect(early).send(get()), 'unreachable', /closed before the answer was complete/);
    const within = await serveTls((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\nhalf'));
    });
    const { body } = await connect(within).send(get());
    await fails(collectText(body, 100), 'unreachable', /closed before the answer was complete/);
    const chunk = await serveTls((socket) => {
      socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n4\r\nhalf\r\n'));
    });
    await fails(read(connect(chunk)), 'unreachable', /closed before/);
  });

  test('a response that is not HTTP is malformed', async () => {
    const server = await serveTls((socket) => socket.once('data', () => socket.end('SSH-2.0-dropbear\r\n')));
    await fails(connect(server).send(get()), 'malformed', /not valid HTTP/);
    const switching = await serveTls((socket) =>
      socket.once('data', () =>
        socket.write('HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n'),
      ),
    );
    await fails(connect(switching).send(get()), 'unreachable', /./);
  });

  /** Responds to the first request of each connection, then closes it. */
  const forgetful = async (): Promise<Listening & { requests: string[] }> => {
    const requests: string[] = [];
    const server = await serveTls((socket) => {
      socket.once('data', (bytes: Buffer) => {
        requests.push(bytes.toString().split(' ')[0] ?? '');
        socket.write('HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok');
        socket.once('data', () => socket.destroy());
      });
    });
    return Object.assign(server, { requests });
  };

  test('a GET on a kept connection that turns out to be closed is sent again, once, on a new one', async () => {
    const server = await forgetful();
    const transport = connect(server);
    const first = await Promise.all([read(transport), read(transport)]);
    assert.deepEqual(first, ['ok', 'ok']);
    // The pool has two closed connections: the retry must not use the other one.
    assert.equal(await read(transport), 'ok');
    assert.equal(server.opened, 3);
  });

  test('anything but a GET is not sent again, since it may have been carried out', async () => {
    const server = await forgetful();
    const transport = connect(server);
    await read(transport);
    await fails(transport.send(get('/', { method: 'POST', body: '{}' })), 'unreachable', /closed before/);
    assert.equal(server.requests.length, 1);
  });

  test('a GET that fails on a new connection is not sent again', async () => {
    let asked = 0;
    const server = await serveTls((socket) => {
      socket.once('data', () => {
        asked++;
        socket.destroy();
      });
    });
    await fails(connect(server).send(get()), 'unreachable', /closed before/);
    assert.equal(asked, 1);
  });

  test('gzip is decoded, and an invalid gzip body is malformed', async () => {
    const text = 'größe '.repeat(50_000);
    const bytes = gzipSync(text);
    const server = await serveHttps((incoming, response) => {
      assert.equal(incoming.headers['accept-encoding'], 'gzip');
      response.setHeader('content-encoding', 'gzip');
      response.end(incoming.url === '/good' ? bytes : incoming.url === '/cut' ? bytes.subarray(0, 100) : 'plain');
    });
    const transport = connect(server);
    assert.equal(await read(transport, get('/good')), text);
    assert.equal(await read(transport, get('/good')), text);
    assert.equal(server.opened, 1);
    await fails(read(transport, get('/bad')), 'malformed', /Z_DATA_ERROR/);
    await fails(read(transport, get('/cut')), 'malformed', /Z_BUF_ERROR/);
  });

  test('a body is read with backpressure', async () => {
    let sent = 0;
    const chunk = Buffer.alloc(64 * 1024);
    const all = 10_000;
    const server = await serveHttps((_incoming, response) => {
      const pump = (): void => {
        while (sent < all) {
          sent++;
          if (!response.write(chunk)) return void response.once('drain', pump);
        }
        response.end();
      };
      pump();
    });
    const { body } = await connect(server).send(get());
    const chunks = body[Symbol.asyncIterator]();
    await chunks.next();
    for (let before = -1; before !== sent; ) {
      before = sent;
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    // Data in flight fits into the buffers of two kernels.
    assert.ok(sent < all / 2, `${sent} of ${all} chunks have left the server`);
    await chunks.return?.();
  });

  test('leaving a body early, even before its first chunk, closes the connection', async () => {
    const gone = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    let index = 0;
    const server = await serveHttps((_incoming, response) => {
      const mine = gone[index++];
      response.once('close', () => mine?.resolve());
      response.write('endless');
    });
    const transport = connect(server);
    const first = await transport.send(get());
    await first.body[Symbol.asyncIterator]().return?.();
    await gone[0]?.promise;
    const second = await transport.send(get());
    for await (const chunk of second.body) {
      assert.equal(Buffer.from(chunk).toString(), 'endless');
      break;
    }
    await gone[1]?.promise;
  });

  test('a signal ends a request before it is sent, before its answer, and within it', async () => {
    const arrived = Promise.withResolvers<void>();
    const server = await serveHttps((incoming, response) => {
      if (incoming.url === '/hang') arrived.resolve();
      else response.write('begin');
    });
    const transport = connect(server);
    await fails(transport.send(get('/', { signal: AbortSignal.abort() })), 'aborted', /./);
    assert.equal(server.opened, 0);
    const hang = new AbortController();
    const waiting = fails(transport.send(get('/hang', { signal: hang.signal })), 'aborted', /./);
    await arrived.promise;
    hang.abort();
    await waiting;
    const within = new AbortController();
    const { body } = await transport.send(get('/', { signal: within.signal }));
    const chunks = body[Symbol.asyncIterator]();
    await chunks.next();
    const reading = fails(chunks.next(), 'aborted', /./);
    within.abort();
    await reading;
  });

  test('an abort at any moment ends the request', async () => {
    const server = await serveHttps(() => {});
    for (let moment = 0; moment < 15; moment++) {
      const abort = new AbortController();
      const fire = async (): Promise<void> => {
        for (let turn = 0; turn < moment; turn++) await Promise.resolve();
        abort.abort();
      };
      const transport = connect(server, {
        credentials: async () => {
          void fire();
          return {};
        },
      });
      await fails(transport.send(get('/', { signal: abort.signal })), 'aborted', /./);
    }
  });

  test('close waits for running requests, and leaves no connection open', async () => {
    const held: ServerResponse[] = [];
    const server = await serveHttps((_incoming, response) => {
      response.write('begin ');
      held.push(response);
    });
    const transport = connect(server);
    const { body } = await transport.send(get());
    transport.close();
    held[0]?.end('end');
    assert.equal(await collectText(body, 100), 'begin end');
    while (server.sockets.size > 0) await new Promise((resolve) => setImmediate(resolve));
  });
});
