import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createHttpsServer } from 'node:https';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { systemClock } from '@tartan/kube/clock';
import { type RawData, WebSocket, WebSocketServer } from 'ws';
import { jsonResponse } from '../http-messages.ts';
import { connectWith, kubeletOptions } from '../kubelet/kubelet-client.ts';
import { type ClusterPki, createClusterPki } from '../pki/pki.ts';
import { serve, type Served } from './serve.ts';
import { forwardedHeaders } from './upgrade-proxy.ts';

/** For tests: an HTTPS server in place of a kubelet, with a certificate of an unknown CA. */
interface FakeKubelet {
  url: string;
  /** Method and target of every request, with the common name of its client certificate. */
  seen: { request: string; headers: IncomingMessage['headers']; client: string }[];
  sockets: Set<Socket>;
  close(): Promise<void>;
}

interface FakeKubeletOptions {
  /** The CA of the client certificates that it trusts. */
  cluster: ClusterPki;
  /** The CA of its own certificate. */
  own: ClusterPki;
  onRequest?(incoming: IncomingMessage, response: ServerResponse): void;
  /** Handles an upgrade to WebSocket. */
  onSocket?(socket: WebSocket, incoming: IncomingMessage): void;
  /** Handles any other upgrade. */
  onUpgrade?(incoming: IncomingMessage, socket: Socket, head: Buffer): void;
}

const fakeKubelet = async (options: FakeKubeletOptions): Promise<FakeKubelet> => {
  const { cluster, own, onRequest, onSocket, onUpgrade } = options;
  const { certificate, key } = await own.issue({
    commonName: 'self',
    organizations: [],
    usages: ['server auth', 'digital signature'],
    seconds: 3600,
  });
  const server = createHttpsServer({
    cert: certificate,
    key,
    ca: cluster.caCertificate,
    requestCert: true,
    rejectUnauthorized: false,
  });
  const websockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
  const seen: FakeKubelet['seen'] = [];
  const sockets = new Set<Socket>();
  const note = ({ method, url, headers, socket }: IncomingMessage): void => {
    const { authorized } = socket as TLSSocket;
    const name = String((socket as TLSSocket).getPeerCertificate().subject?.CN);
    seen.push({ request: `${method} ${url}`, headers, client: authorized ? name : 'nobody' });
  };
  server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  server.on('request', (incoming: IncomingMessage, response: ServerResponse) => {
    note(incoming);
    onRequest?.(incoming, response);
  });
  server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
    note(incoming);
    socket.on('error', () => socket.destroy());
    if (onUpgrade) onUpgrade(incoming, socket, head);
    else websockets.handleUpgrade(incoming, socket, head, (websocket) => onSocket?.(websocket, incoming));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen,
    sockets,
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
};

describe('switching protocols', () => {
  const opened: { close(): Promise<void> }[] = [];
  let cluster: ClusterPki;
  let stranger: ClusterPki;
  before(async () => {
    [cluster, stranger] = await Promise.all([createClusterPki(systemClock), createClusterPki(systemClock)]);
  });
  after(async () => {
    await Promise.all(opened.map((each) => each.close()));
  });

  const start = async (
    options: Partial<FakeKubeletOptions>,
    path = '/exec/n/p/c?command=ls&output=1',
  ): Promise<{ kubelet: FakeKubelet; served: Served }> => {
    const kubelet = await fakeKubelet({ cluster, own: stranger, ...options });
    const served = await serve({
      identity: cluster,
      handle: () => Promise.resolve({ kind: 'upgrade', url: `${kubelet.url}${path}` }),
    });
    opened.push(served, kubelet);
    return { kubelet, served };
  };

  const dial = ({ url }: Served, protocol = 'v5.channel.k8s.io'): WebSocket =>
    new WebSocket(`${url}/api/v1/namespaces/n/pods/p/exec?command=ls`, protocol, {
      ca: cluster.caCertificate,
      headers: { authorization: 'Bearer secret', 'impersonate-user': 'bob' },
      perMessageDeflate: false,
    });

  const frames = (socket: WebSocket): Buffer[] => {
    const list: Buffer[] = [];
    socket.on('message', (data: RawData) => list.push(data as Buffer));
    return list;
  };

  const raw = async ({ port }: Served, text: string): Promise<TLSSocket> => {
    const socket = connectTls({ port, host: '127.0.0.1', ca: cluster.caCertificate });
    socket.on('error', () => socket.destroy());
    await once(socket, 'secureConnect');
    socket.write(text);
    return socket;
  };

  const everything = async (socket: TLSSocket): Promise<string> => {
    const parts: Buffer[] = [];
    socket.on('data', (part: Buffer) => parts.push(part));
    await once(socket, 'close');
    return Buffer.concat(parts).toString('latin1');
  };

  const upgradeRequest =
    'POST /x HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n';

  describe('an exec over WebSocket', () => {
    it('is forwarded to the kubelet, frame by frame and with its close code', async () => {
      const { kubelet, served } = await start({
        onSocket: (socket) => {
          socket.on('message', (data: Buffer) => {
            socket.send(Buffer.concat([Buffer.from([1]), data.subarray(1)]));
            socket.send(Buffer.concat([Buffer.from([3]), Buffer.from('{"status":"Success"}')]));
            socket.close(1000);
          });
        },
      });
      const client = dial(served);
      const received = frames(client);
      await once(client, 'open');
      assert.equal(client.protocol, 'v5.channel.k8s.io');
      client.send(Buffer.from('\0hello'));
      const [code] = (await once(client, 'close')) as [number];
      assert.equal(code, 1000);
      assert.deepEqual(received.map(String), ['\u0001hello', '\u0003{"status":"Success"}']);
      assert.equal(kubelet.seen[0]?.request, 'GET /exec/n/p/c?command=ls&output=1');
    });

    it('presents the API server to the kubelet, and nothing of the client', async () => {
      const { kubelet, served } = await start({ onSocket: (socket) => socket.close(1000) });
      const client = dial(served);
      await once(client, 'close');
      const [{ headers, client: name } = assert.fail('nothing seen')] = kubelet.seen;
      assert.equal(name, 'kube-apiserver-kubelet-client');
      assert.equal(headers.authorization, undefined);
      assert.equal(headers['impersonate-user'], undefined);
      assert.equal(headers.host, `127.0.0.1:${served.port}`);
    });

    it('carries megabytes both ways', async () => {
      const size = 8 * 1024 * 1024;
      const { served } = await start({
        onSocket: (socket) => {
          let left = size;
          socket.on('message', (data: Buffer) => {
            socket.send(data);
            left -= data.length;
            if (left <= 0) socket.close(1000);
          });
        },
      });
      const client = dial(served);
      await once(client, 'open');
      let back = 0;
      client.on('message', (data: Buffer) => (back += data.length));
      for (let sent = 0; sent < size; sent += 32_768) client.send(Buffer.alloc(32_768, 7));
      await once(client, 'close');
      assert.equal(back, size);
    });

    it('ends at the kubelet when the client disconnects', async () => {
      const { promise: gone, resolve } = Promise.withResolvers<number>();
      const { served } = await start({ onSocket: (socket) => socket.once('close', resolve) });
      const client = dial(served);
      await once(client, 'open');
      client.terminate();
      assert.equal(await gone, 1006);
    });

    it('ends at the client when the kubelet disconnects', async () => {
      const { served } = await start({ onSocket: (socket) => socket.terminate() });
      const client = dial(served);
      const [code] = (await once(client, 'close')) as [number];
      assert.equal(code, 1006);
    });

    it('ends on both sides when the server closes', async () => {
      const { promise: gone, resolve } = Promise.withResolvers<number>();
      const { kubelet, served } = await start({ onSocket: (socket) => socket.once('close', resolve) });
      const client = dial(served);
      await once(client, 'open');
      const closed = once(client, 'close');
      await served.close();
      await Promise.all([gone, closed]);
      await kubelet.close();
      assert.equal(kubelet.sockets.size, 0);
    });
  });

  describe('another protocol upgrade', () => {
    it('is forwarded byte by byte', async () => {
      const { kubelet, served } = await start({
        onUpgrade: (_incoming, socket, head) => {
          socket.write(
            'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n\r\n',
          );
          socket.write(head);
          socket.pipe(socket);
        },
      });
      const socket = await raw(served, `${upgradeRequest}\x80\x03early`);
      const answer = everything(socket);
      socket.write('late');
      await new Promise<void>((resolve) => {
        let seen = '';
        socket.on('data', (part: Buffer) => {
          seen += part.toString('latin1');
          if (seen.endsWith('late')) resolve();
        });
      });
      socket.end();
      const text = await answer;
      assert.match(text, /^HTTP\/1\.1 101 Switching Protocols\r\n/);
      assert.match(text, /X-Stream-Protocol-Version: v4\.channel\.k8s\.io/);
      assert.ok(text.endsWith('earlylate'));
      assert.equal(kubelet.seen[0]?.request, 'POST /exec/n/p/c?command=ls&output=1');
    });

    it('forwards a refusal, and nothing after it', async () => {
      const { kubelet, served } = await start({
        onUpgrade: (_incoming, socket) => {
          socket.write('HTTP/1.1 403 Forbidden\r\nContent-Type: text/plain\r\nContent-Length: 6\r\n\r\nno way');
        },
      });
      const smuggled = 'GET /pods HTTP/1.1\r\nHost: h\r\n\r\n';
      const socket = await raw(served, upgradeRequest + smuggled);
      const text = await everything(socket);
      assert.match(text, /^HTTP\/1\.1 403 Forbidden\r\n/);
      assert.match(text, /no way/);
      assert.equal(text.match(/HTTP\/1\.1/g)?.length, 1);
      assert.deepEqual(
        kubelet.seen.map(({ request }) => request),
        ['POST /exec/n/p/c?command=ls&output=1'],
      );
    });

    it('is refused with a Status when the kubelet cannot be reached', async () => {
      const listener = createServer().listen(0, '127.0.0.1');
      await once(listener, 'listening');
      const { port } = listener.address() as { port: number };
      listener.close();
      await once(listener, 'close');
      const served = await serve({
        identity: cluster,
        handle: () => Promise.resolve({ kind: 'upgrade', url: `https://127.0.0.1:${port}/exec` }),
      });
      opened.push(served);
      const text = await everything(await raw(served, upgradeRequest));
      assert.match(text, /^HTTP\/1\.1 500 /);
      const status = JSON.parse(text.split('\r\n\r\n')[1] ?? '') as { message: string; code: number; reason?: string };
      assert.equal(status.message, `error dialing backend: dial tcp 127.0.0.1:${port}: connect: connection refused`);
      assert.deepEqual([status.code, status.reason], [500, undefined]);
    });

    it('gets a plain response when the API server answers itself', async () => {
      const served = await serve({
        identity: cluster,
        handle: () => Promise.resolve(jsonResponse(403, { kind: 'Status' })),
      });
      opened.push(served);
      const text = await everything(await raw(served, upgradeRequest));
      assert.match(text, /^HTTP\/1\.1 403 Forbidden\r\n/);
      assert.match(text, /\r\n\r\n\{"kind":"Status"\}\n$/);
    });

    it('gets a plain response also before its body has arrived', async () => {
      const served = await serve({
        identity: cluster,
        handle: () => Promise.resolve(jsonResponse(403, { kind: 'Status' })),
      });
      opened.push(served);
      const text = await everything(
        await raw(served, upgradeRequest.replace('\r\n\r\n', '\r\nContent-Length: 3\r\n\r\n')),
      );
      assert.match(text, /^HTTP\/1\.1 403 Forbidden\r\n/);
    });

    it('is an ordinary request if the protocol is unknown', async () => {
      const served = await serve({
        identity: cluster,
        handle: ({ method, body }) => Promise.resolve(jsonResponse(200, { method, size: body.length })),
      });
      opened.push(served);
      const socket = await raw(
        served,
        'POST / HTTP/1.1\r\nHost: h\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\nabc',
      );
      assert.match(await everything(socket), /\{"method":"POST","size":3\}/);
    });
  });

  describe('the forwarded headers', () => {
    it('keep repeated headers apart, without secrets', () => {
      const headersDistinct = {
        host: ['h'],
        'x-stream-protocol-version': ['v5', 'v4'],
        authorization: ['Bearer x'],
        cookie: ['a'],
        'impersonate-extra-a': ['b'],
        'sec-websocket-protocol': ['v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.c2VjcmV0'],
      };
      assert.deepEqual(forwardedHeaders({ headersDistinct }), {
        host: 'h',
        'x-stream-protocol-version': ['v5', 'v4'],
        'sec-websocket-protocol': 'v5.channel.k8s.io',
      });
    });
  });

  describe('a GET from a kubelet', () => {
    it('presents the certificate of the API server and trusts any kubelet', async () => {
      const { kubelet } = await start({ onRequest: (_incoming, response) => void response.end('log') });
      const { code, chunks } = await connectWith(kubeletOptions(cluster))(
        `${kubelet.url}/containerLogs/n/p/c`,
        new AbortController().signal,
      );
      const parts: string[] = [];
      for await (const chunk of chunks) parts.push(String(chunk));
      assert.deepEqual([code, parts.join('')], [200, 'log']);
      assert.equal(kubelet.seen[0]?.client, 'kube-apiserver-kubelet-client');
    });

    it('ends when the client disconnects', async () => {
      const { promise: gone, resolve } = Promise.withResolvers<void>();
      const { kubelet } = await start({
        onRequest: (_incoming, response) => {
          response.write('first');
          response.once('close', resolve);
        },
      });
      const controller = new AbortController();
      const { chunks } = await connectWith(kubeletOptions(cluster))(kubelet.url, controller.signal);
      await assert.rejects(async () => {
        for await (const _chunk of chunks) controller.abort();
      });
      await gone;
    });
  });
});
