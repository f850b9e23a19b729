import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { systemClock, systemClock as clock } from '../clock/clock.ts';
import { manualClock } from '../clock/manual-clock.ts';
import { settle } from '../clock/testing/real-time.ts';
import { untilAborted } from '../errors/abort-signal.ts';
import type { BindAddress } from '../flags/network-types.ts';
import { recordedLog } from '../informer/testing/recorded-log.ts';
import { createLogger } from '../logs/logger.ts';
import {
  createHealthServer,
  createHealthServers,
  type HealthServer,
  type HealthServerOptions,
} from './health-server.ts';

interface Harness {
  server: HealthServer;
  url: string;
  port: number;
  stop(): Promise<void>;
}

const start = async (options: Partial<HealthServerOptions> = {}): Promise<Harness> => {
  const metrics = async () => ({ contentType: 'text/plain; version=0.0.4', body: 'up 1\n' });
  const server = createHealthServer({ port: 0, clock: systemClock, log: recordedLog().log, metrics, ...options });
  const stopping = new AbortController();
  const running = server.run(stopping.signal);
  const { host, port } = await server.address;
  return {
    server,
    port,
    url: `http://${host}:${port}`,
    stop: () => {
      stopping.abort();
      return running;
    },
  };
};

const closing = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.on('error', () => {});
    if (socket.closed) resolve();
    else socket.once('close', () => resolve());
  });

/** More than the socket buffers hold. */
const huge = 'x'.repeat(64 * 1024 * 1024);

/** Requests the metrics and reads only their beginning. */
const askWithoutReading = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'readable');
  return socket;
};

/** Everything the server sends until it closes the connection. */
const receivedBytes = async (socket: Socket): Promise<string> => {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await closing(socket);
  return text;
};

test('probes and metrics are served on a free port, which is closed at the stop', async () => {
  const { server, url, port, stop } = await start();
  server.readyz.set('caches', () => 'not synced: nodes');
  const healthz = await fetch(`${url}/healthz`);
  assert.equal(healthz.status, 200);
  assert.equal(await healthz.text(), 'ok');
  const readyz = await fetch(`${url}/readyz`);
  assert.equal(readyz.status, 500);
  assert.match(await readyz.text(), /caches failed: not synced: nodes/);
  const metrics = await fetch(`${url}/metrics`);
  assert.equal(metrics.headers.get('content-type'), 'text/plain; version=0.0.4');
  assert.equal(await metrics.text(), 'up 1\n');
  const head = await fetch(`${url}/metrics`, { method: 'HEAD' });
  assert.equal(head.headers.get('content-length'), '5');
  await stop();
  const refused = connect(port, '127.0.0.1');
  await assert.rejects(once(refused, 'connect'), { code: 'ECONNREFUSED' });
});

test('an address in use is an error with advice', async () => {
  const { port, stop } = await start();
  const second = createHealthServer({ port, clock: systemClock, log: recordedLog().log });
  await assert.rejects(
    second.run(new AbortController().signal),
    /cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE.*Choose another address/,
  );
  await stop();
});

test('idle connections do not hold up the stop', async () => {
  const { port, stop } = await start();
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  const closed = closing(socket);
  await stop();
  await closed;
});

test('a client that sends half a request and waits does not hold up the stop', async () => {
  const { port, stop } = await start();
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\n');
  const closed = closing(socket);
  await stop();
  await closed;
});

test('headers without end are refused', async () => {
  const { port, stop } = await start();
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.on('error', () => {});
  socket.write(`GET /healthz HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(10_000)}\r\n\r\n`);
  assert.match(await receivedBytes(socket), /^HTTP\/1\.1 431 /);
  await stop();
});

test('connections above the limit are refused', async () => {
  const { port, stop } = await start();
  const sockets = Array.from({ length: 65 }, () => connect(port, '127.0.0.1'));
  const closed = sockets.map(closing);
  await Promise.race(closed);
  await stop();
  await Promise.all(closed);
});

test('the connection of a client that does not read is closed', { timeout: 60_000 }, async () => {
  const { log, lines } = recordedLog();
  const metrics = async () => ({ contentType: 'text/plain', body: huge });
  const { port, stop } = await start({ idleTimeoutMs: 500, log, metrics });
  const socket = await askWithoutReading(port);
  while (!lines.some(({ message }) => message.includes('cut off'))) await setImmediate();
  // Data sent before can still be read; it is incomplete.
  assert.ok((await receivedBytes(socket)).length < huge.length);
  await stop();
});

/** A slow request for metrics during which the server stops. */
const stopMeanwhile = async () => {
  const clock = manualClock(0);
  const asked = Promise.withResolvers<void>();
  const collected = Promise.withResolvers<{ contentType: string; body: string }>();
  const metrics = () => {
    asked.resolve();
    return collected.promise;
  };
  const { url, stop } = await start({ clock, metrics });
  const answer = fetch(`${url}/metrics`);
  answer.catch(() => {});
  await asked.promise;
  const stopped = stop();
  await settle();
  return { clock, collected, answer, stopped };
};

test('a request under way is answered before the server stops', { timeout: 60_000 }, async () => {
  const { collected, answer, stopped } = await stopMeanwhile();
  collected.resolve({ contentType: 'text/plain', body: 'up 1\n' });
  assert.equal(await (await answer).text(), 'up 1\n');
  await stopped;
});

test('an unanswered request delays the stop for a moment only', {
  timeout: 60_000,
}, async () => {
  const { clock, answer, stopped } = await stopMeanwhile();
  clock.advance(1000);
  await stopped;
  await assert.rejects(answer);
});

test('an aborted signal opens no port', async () => {
  const server = createHealthServer({ port: 0, clock: systemClock, log: recordedLog().log });
  await server.run(AbortSignal.abort());
});

const log = createLogger({ level: 'error', write: () => {}, clock });
const anywhere: BindAddress = { host: '127.0.0.1', port: 0 };
const healthAt = (healthAddress: BindAddress | undefined, metricsAddress: BindAddress | undefined) =>
  createHealthServers({
    options: { healthAddress, metricsAddress },
    metrics: { text: async () => ({ contentType: 'text/plain', body: 'up 1\n' }) },
    clock,
    log,
  });

const codeOf = async (address: Promise<{ port: number }> | undefined, path: string): Promise<number> => {
  const { port } = (await address) ?? { port: 0 };
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { connection: 'close' } });
  await answer.text();
  return answer.status;
};

describe('probes and metrics', () => {
  test('are served on separate ports until the work ends', async () => {
    const health = healthAt(anywhere, anywhere);
    const { probes, metrics } = health.addresses;
    const result = await health.serveWhile(new AbortController().signal, async () => {
      assert.deepEqual([await codeOf(probes, '/healthz'), await codeOf(probes, '/metrics')], [200, 404]);
      assert.equal(await codeOf(metrics, '/metrics'), 200);
      return { ok: true };
    });
    assert.deepEqual(result, { ok: true });
    await assert.rejects(codeOf(probes, '/healthz'));
  });

  test('that are disabled do not delay the stop', async () => {
    const health = healthAt(undefined, undefined);
    assert.deepEqual(health.addresses, { probes: undefined, metrics: undefined });
    const stop = AbortSignal.abort();
    const work = async (signal: AbortSignal) => {
      await untilAborted(signal);
      return { ok: true } as const;
    };
    assert.deepEqual(await health.serveWhile(stop, work), { ok: true });
  });

  test('that cannot listen end the work with an error', async () => {
    const first = healthAt(anywhere, undefined);
    await first.serveWhile(new AbortController().signal, async () => {
      const { port } = (await first.addresses.probes) ?? { port: 0 };
      const second = healthAt({ ...anywhere, port }, anywhere);
      const result = await second.serveWhile(new AbortController().signal, async (signal) => {
        await untilAborted(signal);
        return { ok: true };
      });
      assert.ok(!result.ok && /cannot listen on 127\.0\.0\.1/.test(result.reason), JSON.stringify(result));
      return { ok: true };
    });
  });
});
