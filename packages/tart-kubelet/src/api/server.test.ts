import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request } from 'node:https';
import { connect as connectTCP, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { connect as connectTLS, type TLSSocket } from 'node:tls';
import { createLogger } from '@tartan/kube';
import { systemClock } from '@tartan/kube/clock';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { WebSocket } from 'ws';
import type { ApiLimits } from './limits.ts';
import { createKubeletApi, type KubeletApi, type KubeletApiOptions } from './server.ts';
import { formatData } from './spdy/frames.ts';
import { createFakeRuntime, type FakeRuntime } from './testing/fake-runtime.ts';
import { createSpdyPeer } from './testing/spdy-peer.ts';

interface Served {
  api: KubeletApi;
  runtime: FakeRuntime;
  port: number;
  close(): Promise<void>;
}

describe('the kubelet API', { timeout: 60_000 }, () => {
  let kubernetes: Kubernetes;
  let folder = '';
  let admin: { cert: string; key: string };
  let served: Served;
  const issue = async (
    commonName: string,
    options: { usage?: 'client auth' | 'server auth'; seconds?: number; from?: Kubernetes } = {},
  ): Promise<{ cert: string; key: string }> => {
    const { certificate, key } = await (options.from ?? kubernetes).identity.issue({
      commonName,
      organizations: [],
      addresses: ['127.0.0.1'],
      usages: [options.usage ?? 'client auth', 'digital signature'],
      seconds: options.seconds ?? 3600,
    });
    return { cert: certificate, key };
  };

  const open = async (limits: Partial<ApiLimits> = {}, more: Partial<KubeletApiOptions> = {}): Promise<Served> => {
    const { cert, key } = await issue('server', { usage: 'server auth' });
    const runtime = createFakeRuntime({ folder: mkdtempSync(join(folder, 'api-')) });
    const api = createKubeletApi({
      runtime,
      reviews: {
        whose: async (token) => (token === 'good' ? { name: 'admin', groups: [] } : undefined),
        mayDo: async ({ name }) => name === 'admin',
      },
      nodeName: 'mac-1',
      host: '127.0.0.1',
      port: 0,
      clientCA: kubernetes.identity.caCertificate,
      identity: { certificate: cert, key },
      clock: systemClock,
      log: createLogger({ clock: systemClock, level: 'error', write: () => {} }),
      metrics: async () => ({ contentType: 'text/plain; version=0.0.4', body: 'tart_up 1\n' }),
      unhealthy: () => undefined,
      limits: { closingMs: 10, ...limits },
      ...more,
    });
    const stop = new AbortController();
    const done = api.run(stop.signal);
    const { port } = await Promise.race([api.address, done.then(() => api.address)]);
    const close = async (): Promise<void> => {
      stop.abort();
      await done;
      await runtime.endLog();
    };
    return { api, runtime, port, close };
  };

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'kubelet-api-'));
    kubernetes = await createKubernetes();
    admin = await issue('admin');
    served = await open();
  });
  after(async () => {
    await served?.close();
    kubernetes?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const ask = async (path: string, options: object = admin, to: Served = served) => {
    const outgoing = request({
      host: '127.0.0.1',
      port: to.port,
      path,
      rejectUnauthorized: false,
      agent: false,
      ...options,
    });
    outgoing.end();
    const [response]: IncomingMessage[] = await once(outgoing, 'response');
    let body = '';
    for await (const chunk of response ?? []) body += String(chunk);
    return { code: response?.statusCode, body, type: response?.headers['content-type'] };
  };
  const dialTLS = async (options: object = admin, to: Served = served): Promise<TLSSocket> => {
    const socket = connectTLS({ host: '127.0.0.1', port: to.port, rejectUnauthorized: false, ...options });
    socket.on('error', () => {});
    await once(socket, 'secureConnect');
    return socket;
  };
  const command = 'command=sh&command=-c&command=';
  const openWebSocket = (path: string, protocol = 'v5.channel.k8s.io', to: Served = served): WebSocket =>
    new WebSocket(`wss://127.0.0.1:${to.port}${path}`, protocol, { ...admin, rejectUnauthorized: false });
  const messagesOf = async (
    socket: WebSocket,
  ): Promise<{ code: number; status: unknown; out: string; err: string }> => {
    const parts = new Map<number, string>();
    socket.on('message', (data: Buffer) =>
      parts.set(data[0] ?? -1, `${parts.get(data[0] ?? -1) ?? ''}${data.subarray(1).toString()}`),
    );
    const [code] = await once(socket, 'close');
    return { code, status: JSON.parse(parts.get(3) ?? 'null'), out: parts.get(1) ?? '', err: parts.get(2) ?? '' };
  };
  const ended = async (socket: Socket): Promise<void> => {
    socket.resume();
    if (!socket.destroyed) await once(socket, 'close');
  };
  const settle = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise((resolve) => setTimeout(resolve, 5));
  };

  describe('knows who comes', () => {
    test('by a client certificate or a token, and lets nobody else in', async () => {
      assert.equal((await ask('/healthz')).code, 200);
      assert.equal((await ask('/healthz', { headers: { authorization: 'Bearer good' } })).code, 200);
      assert.equal((await ask('/healthz', {})).code, 401);
      assert.equal((await ask('/healthz', { headers: { authorization: 'Bearer bad' } })).code, 401);
      assert.equal((await ask('/healthz', { headers: { authorization: 'Basic Z29vZA==' } })).code, 401);
      assert.equal((await ask('/healthz', await issue('mallory'))).code, 403);
    });

    test('and believes no certificate of another authority, or for servers', async () => {
      const other = await createKubernetes();
      try {
        assert.equal((await ask('/healthz', await issue('admin', { from: other }))).code, 401);
      } finally {
        other.stop();
      }
      assert.equal((await ask('/healthz', await issue('admin', { usage: 'server auth' }))).code, 401);
    });

    test('before it switches protocols', async () => {
      const socket = await dialTLS({});
      socket.write(
        'GET /exec/default/vm/vm?command=true&output=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n',
      );
      const [chunk] = await once(socket, 'data');
      assert.match(String(chunk), /^HTTP\/1.1 401 Unauthorized\r\n/);
      await ended(socket);
      assert.deepEqual(served.runtime.commands, []);
    });
  });

  test('serves what stays HTTP', async () => {
    const { body, type } = await ask('/pods');
    assert.equal(type, 'application/json');
    assert.equal(JSON.parse(body).kind, 'PodList');
    assert.equal(JSON.parse(body).items.length, 1);
    assert.deepEqual(await ask('/metrics'), { code: 200, body: 'tart_up 1\n', type: 'text/plain; version=0.0.4' });
    assert.match((await ask('/metrics/resource')).body, /^container_cpu_usage_seconds_total\{.*\} 1\.5 1000$/m);
    assert.equal((await ask('/nothing')).code, 404);
    assert.equal((await ask('/exec/default/vm/vm?command=true&output=1')).code, 400);
    assert.equal((await ask('/healthz', { ...admin, method: 'POST' })).code, 405);
    assert.equal((await ask('/containerLogs/default/other/vm')).code, 404);
    const head = await ask('/pods', { ...admin, method: 'HEAD' });
    assert.deepEqual([head.code, head.body], [200, '']);
  });

  test('says when it is not well, and nothing of its inside when it fails', async () => {
    const sick = await open({}, { unhealthy: () => 'tart does not answer' });
    try {
      assert.deepEqual(await ask('/healthz', admin, sick), {
        code: 500,
        body: 'tart does not answer',
        type: 'text/plain; charset=utf-8',
      });
      sick.runtime.usage = async () => {
        throw new Error('secret detail');
      };
      const { code, body } = await ask('/metrics/resource', admin, sick);
      assert.equal(code, 500);
      assert.doesNotMatch(body, /secret/);
    } finally {
      await sick.close();
    }
  });

  test('serves with another certificate from one connection to the next', async () => {
    const before = await dialTLS();
    const { cert, key } = await issue('renewed', { usage: 'server auth' });
    served.api.useIdentity({ certificate: cert, key });
    const next = await dialTLS();
    assert.equal(next.getPeerCertificate().subject.CN, 'renewed');
    for (const socket of [before, next]) {
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200/, 'and still asks for certificates');
      socket.destroy();
    }
  });

  describe('logs', () => {
    test('are followed line by line, until the reader leaves', async () => {
      const own = await open();
      try {
        await own.runtime.log.write('stdout', Buffer.from('one\n'));
        const outgoing = request({
          host: '127.0.0.1',
          port: own.port,
          path: '/containerLogs/default/vm/vm?follow=true',
          rejectUnauthorized: false,
          agent: false,
          ...admin,
        });
        outgoing.end();
        outgoing.on('error', () => {});
        const [response] = await once(outgoing, 'response');
        assert.equal(String((await once(response, 'data'))[0]), 'one\n');
        await own.runtime.log.write('stdout', Buffer.from('two\n'));
        assert.equal(String((await once(response, 'data'))[0]), 'two\n');
        outgoing.destroy();
      } finally {
        await own.close();
      }
    });

    test('are refused with a text', async () => {
      const { code, body } = await ask('/containerLogs/default/vm/vm?previous=true');
      assert.equal(code, 400);
      assert.match(body, /previous terminated container/);
    });
  });

  describe('exec over WebSocket', () => {
    test('ends with the status, then with code 1000', async () => {
      const socket = openWebSocket(`/exec/default/vm/vm?${command}echo out; echo err >%262; exit 3&output=1&error=1`);
      const { code, status, out, err } = await messagesOf(socket);
      assert.equal(code, 1000);
      assert.deepEqual([out, err], ['out\n', 'err\n']);
      assert.equal((status as { reason: string }).reason, 'NonZeroExitCode');
    });

    test('hears the end of stdin, and in v4 there is none', async () => {
      for (const [protocol, expected] of [
        ['v5.channel.k8s.io', 'hello'],
        ['v4.channel.k8s.io', ''],
      ] as const) {
        const socket = openWebSocket('/exec/default/vm/vm?command=cat&input=1&output=1', protocol);
        const closed = messagesOf(socket);
        await once(socket, 'open');
        socket.send(Buffer.from('\0hello'));
        socket.send(Buffer.from([255, 0]));
        if (expected === '') {
          await new Promise((resolve) => setTimeout(resolve, 50));
          assert.equal(socket.readyState, WebSocket.OPEN);
          socket.terminate();
          await settle(() => served.runtime.running.size === 0);
        }
        assert.equal((await closed).out, 'hello');
      }
    });

    test('tells sizes, also those that come before anybody listens', async () => {
      const socket = openWebSocket(`/exec/default/vm/vm?${command}read x&input=1&output=1&tty=1`);
      const closed = messagesOf(socket);
      await once(socket, 'open');
      socket.send(Buffer.from('\x04{"Width":90,"Height":30}\n'));
      socket.send(Buffer.from('\x04{"Width":0,"Height":0}\n'));
      socket.send(Buffer.from('\x04rubbish'));
      socket.send(Buffer.from('\0go\n'));
      assert.equal((await closed).out, 'size 90x30\n');
    });

    test('of what cannot be found is a failed status', async () => {
      const { status, code } = await messagesOf(openWebSocket('/exec/default/other/vm?command=true&output=1'));
      assert.match((status as { message: string }).message, /default\/other has no container/);
      assert.equal(code, 1000);
    });

    test('ends the command when the client is gone', async () => {
      const socket = openWebSocket('/exec/default/vm/vm?command=sleep&command=1000&output=1');
      await once(socket, 'open');
      await settle(() => served.runtime.running.size === 1);
      socket.terminate();
      await settle(() => served.runtime.running.size === 0);
    });

    test('of another protocol is refused before anything runs', async () => {
      const count = served.runtime.commands.length;
      const socket = openWebSocket('/exec/default/vm/vm?command=true&output=1', 'v1.unknown');
      const [error] = await once(socket, 'error');
      assert.match(String(error), /400/);
      assert.equal(served.runtime.commands.length, count);
    });

    test('takes no message that is longer than any client sends', async () => {
      const small = await open({ messageBytes: 1000 });
      try {
        const socket = openWebSocket('/exec/default/vm/vm?command=cat&input=1&output=1', 'v5.channel.k8s.io', small);
        await once(socket, 'open');
        await settle(() => small.runtime.running.size === 1);
        socket.on('error', () => {});
        socket.send(Buffer.alloc(2000));
        const [code] = await once(socket, 'close');
        assert.equal(code, 1009);
        await settle(() => small.runtime.running.size === 0);
      } finally {
        await small.close();
      }
    });

    test('takes rubbish for nothing', async () => {
      const socket = openWebSocket(`/exec/default/vm/vm?${command}read x; echo $x&input=1&output=1`);
      const closed = messagesOf(socket);
      await once(socket, 'open');
      for (const bytes of [[], [9, 1], [3, 1], [255], [255, 9], [4]]) socket.send(Buffer.from(bytes));
      socket.send(Buffer.from('\0fine\n'));
      assert.equal((await closed).out, 'fine\n');
    });
  });

  describe('attach', () => {
    test('is let go of, and holds no more than it must for a main process that does not read', async () => {
      // It asks at once instead of after seconds whether the client is there.
      const clock = {
        ...systemClock,
        after: (ms: number, call: () => void) => systemClock.after(Math.min(ms, 20), call),
      };
      const own = await open({}, { clock });
      try {
        own.runtime.stuck = true;
        const socket = openWebSocket('/attach/default/vm/vm?input=1&output=1', 'v5.channel.k8s.io', own);
        await once(socket, 'open');
        socket.on('error', () => {});
        const message = Buffer.alloc(32 * 1024);
        let sent = 0;
        const flood = async (): Promise<void> => {
          for (; sent < 2000; sent += 1) await new Promise((resolve) => socket.send(message, resolve));
        };
        void flood();
        for (let last = 0, still = 0; still < 5; last = sent) {
          await new Promise((resolve) => setTimeout(resolve, 100));
          still = sent > 0 && sent === last ? still + 1 : 0;
        }
        assert.ok(sent < 2000, 'the client had to wait');
        socket.terminate();
        await settle(() => own.runtime.detached === 1);
      } finally {
        await own.close();
      }
    });
  });

  const openSpdy = async (path: string, protocol: string, to: Served = served): Promise<Socket> => {
    const outgoing = request({
      host: '127.0.0.1',
      port: to.port,
      path,
      method: 'POST',
      rejectUnauthorized: false,
      agent: false,
      ...admin,
      headers: { connection: 'Upgrade', upgrade: 'SPDY/3.1', 'x-stream-protocol-version': protocol },
    });
    outgoing.end();
    const [response, socket] = await Promise.race([once(outgoing, 'upgrade'), once(outgoing, 'response')]);
    if (socket === undefined) throw new Error(`refused with ${response.statusCode}`);
    socket.on('error', () => {});
    return socket;
  };

  describe('exec over SPDY', () => {
    test('runs, and says how it ended', async () => {
      const socket = await openSpdy(
        `/exec/default/vm/vm?${command}cat;exit+4&input=1&output=1`,
        'v5.channel.k8s.io, v4.channel.k8s.io',
      );
      const peer = createSpdyPeer(socket);
      const error = await peer.open({ streamtype: 'error' }, true);
      const stdin = await peer.open({ streamtype: 'stdin' });
      const stdout = await peer.open({ streamtype: 'stdout' }, true);
      socket.write(formatData(stdin, Buffer.from('hello'), true));
      const status = await peer.find((frame) => frame.type === 0 && frame.streamId === error);
      assert.match(status?.body.toString() ?? '', /"message":"4"/);
      const out = peer.frames.filter((frame) => frame.type === 0 && frame.streamId === stdout);
      assert.equal(Buffer.concat(out.map((frame) => frame.body)).toString(), 'hello');
      assert.equal(out.at(-1)?.flags, 1);
      socket.end();
      await ended(socket);
    });

    test('ends the command when the client is gone', async () => {
      const socket = await openSpdy('/exec/default/vm/vm?command=sleep&command=1000&output=1', 'v4.channel.k8s.io');
      const peer = createSpdyPeer(socket);
      await peer.open({ streamtype: 'error' });
      await peer.open({ streamtype: 'stdout' });
      await settle(() => served.runtime.running.size === 1);
      socket.destroy();
      await settle(() => served.runtime.running.size === 0);
    });

    test('runs nothing for who speaks something else', async () => {
      const count = served.runtime.commands.length;
      await assert.rejects(openSpdy('/exec/default/vm/vm?command=true&output=1', 'v1'), /400/);
      const socket = await openSpdy('/exec/default/vm/vm?command=true&output=1', 'v4.channel.k8s.io');
      socket.write('GET / HTTP/1.1\r\nHost: hello\r\n\r\n'.repeat(100));
      socket.end();
      await ended(socket);
      const other = await openSpdy('/exec/default/vm/vm?command=true&output=1', 'v4.channel.k8s.io');
      other.write(Buffer.from('8002000100000000', 'hex'));
      await ended(other);
      assert.equal(served.runtime.commands.length, count);
    });
  });

  describe('port-forward', () => {
    const target = createServer({ allowHalfOpen: true }, (socket) => {
      socket.on('data', (chunk) => socket.write(chunk));
      socket.on('end', () => socket.end('bye'));
    });
    before(async () => {
      target.listen(0, '127.0.0.1');
      await once(target, 'listening');
    });
    after(() => void target.close());

    test('pairs streams, keeps half-open connections, and says what cannot be reached', async () => {
      const { port } = target.address() as { port: number };
      const socket = await openSpdy('/portForward/default/vm', 'portforward.k8s.io');
      const peer = createSpdyPeer(socket);
      const data = await peer.open({ streamtype: 'data', requestid: '1', port: String(port) });
      await peer.open({ streamtype: 'error', requestid: '1', port: String(port) }, true);
      socket.write(formatData(data, Buffer.from('hello'), true));
      await peer.find((frame) => frame.streamId === data && frame.flags === 1);
      const got = peer.frames.filter((frame) => frame.type === 0 && frame.streamId === data);
      assert.equal(Buffer.concat(got.map((frame) => frame.body)).toString(), 'hellobye');

      for (const [id, wrong, text] of [
        ['2', '1', /connection refused/],
        ['3', '70000', /holds no port/],
        ['4', 'x', /holds no port/],
      ] as const) {
        const error = await peer.open({ streamtype: 'error', requestid: id, port: wrong }, true);
        const lost = await peer.open({ streamtype: 'data', requestid: id, port: wrong });
        const said = await peer.find((frame) => frame.type === 0 && frame.streamId === error && frame.body.length > 0);
        assert.match(said?.body.toString() ?? '', text);
        assert.ok(await peer.find((frame) => frame.type === 3 && frame.streamId === lost));
      }
      const stranger = await peer.open({ streamtype: 'what', requestid: '5' });
      assert.ok(await peer.find((frame) => frame.type === 3 && frame.streamId === stranger));
      socket.end();
      await ended(socket);
    });
  });

  describe('has limits', () => {
    test('on who says nothing, in the handshake and after it', async () => {
      const impatient = await open({ openingMs: 50, keepAliveMs: 50 });
      try {
        const silent = connectTCP(impatient.port, '127.0.0.1');
        silent.on('error', () => {});
        await ended(silent);
        const slow = await dialTLS(admin, impatient);
        slow.write('GET /healthz HTTP/1.1\r\nHost: ');
        await ended(slow);
        const body = await dialTLS(admin, impatient);
        body.write('POST /exec/a/b/c HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx');
        await ended(body);
      } finally {
        await impatient.close();
      }
    });

    test('on connections, sessions and headers', async () => {
      const small = await open({ connections: 2, sessions: 1, headerBytes: 2000, openingMs: 600_000 });
      try {
        const first = openWebSocket('/exec/default/vm/vm?command=cat&input=1&output=1', 'v5.channel.k8s.io', small);
        await once(first, 'open');
        first.on('error', () => {});
        const second = openWebSocket('/exec/default/vm/vm?command=cat&input=1&output=1', 'v5.channel.k8s.io', small);
        assert.match(String((await once(second, 'error'))[0]), /503/);
        assert.equal((await ask('/healthz', { ...admin, headers: { x: 'y'.repeat(3000) } }, small)).code, 431);
        const idle = await dialTLS(admin, small);
        const third = connectTCP(small.port, '127.0.0.1');
        third.on('error', () => {});
        await ended(third);
        idle.destroy();
        first.terminate();
        await settle(() => small.runtime.running.size === 0);
      } finally {
        await small.close();
      }
    });

    test('on silence, also of sessions', async () => {
      const quiet = await open({ silenceMs: 100 });
      try {
        const socket = openWebSocket('/attach/default/vm/vm?output=1', 'v5.channel.k8s.io', quiet);
        await once(socket, 'open');
        socket.on('error', () => {});
        await once(socket, 'close');
        await settle(() => quiet.runtime.detached === 1);
        const spdy = await openSpdy('/portForward/default/vm', 'portforward.k8s.io', quiet);
        await ended(spdy);
      } finally {
        await quiet.close();
      }
    });

    test('on what it does not speak', async () => {
      const plain = connectTCP(served.port, '127.0.0.1');
      plain.on('error', () => {});
      plain.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await ended(plain);
      const upgrade = await ask('/healthz', { ...admin, headers: { connection: 'Upgrade', upgrade: 'h2c' } });
      assert.equal(upgrade.code, 400);
      const connectMethod = await dialTLS();
      connectMethod.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
      await ended(connectMethod);
    });
  });

  test('ends its sessions when it is told to stop', async () => {
    const own = await open();
    const socket = openWebSocket('/exec/default/vm/vm?command=sleep&command=1000&output=1', 'v5.channel.k8s.io', own);
    await once(socket, 'open');
    socket.on('error', () => {});
    await settle(() => own.runtime.running.size === 1);
    await own.close();
    await settle(() => own.runtime.running.size === 0);
  });

  test('says why it cannot listen', async () => {
    const { cert, key } = await issue('server', { usage: 'server auth' });
    await assert.rejects(open({}, { port: served.port, identity: { certificate: cert, key } }), /cannot listen on/);
  });
});
