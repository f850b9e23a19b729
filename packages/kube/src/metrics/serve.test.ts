import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { recordedLog } from '../cache/testing/recorded-log.ts';
import { systemClock } from '../clock/clock.ts';
import { manualClock } from '../clock/manual-clock.ts';
import { settle } from '../controller/testing/settle.ts';
import { createHealthServer, type HealthServer, type HealthServerOptions } from './serve.ts';

interface Rig {
  server: HealthServer;
  url: string;
  port: number;
  stop(): Promise<void>;
}

const start = async (options: Partial<HealthServerOptions> = {}): Promise<Rig> => {
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

/** More than the buffers between us hold. */
const huge = 'x'.repeat(64 * 1024 * 1024);

/** Asks for the metrics, reads their beginning and nothing more. */
const askWithoutReading = async (port: number): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n');
  await once(socket, 'readable');
  return socket;
};

/** Everything the server says until it hangs up. */
const heard = async (socket: Socket): Promise<string> => {
  let text = '';
  socket.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  await closing(socket);
  return text;
};

test('probes and metrics are served on a port of its own choice, and the port is free afterwards', async () => {
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

test('an address that is taken is an error that says what to do', async () => {
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
  assert.match(await heard(socket), /^HTTP\/1\.1 431 /);
  await stop();
});

test('more connections than probes and scrapers need are not taken', async () => {
  const { port, stop } = await start();
  const sockets = Array.from({ length: 65 }, () => connect(port, '127.0.0.1'));
  const closed = sockets.map(closing);
  await Promise.race(closed);
  await stop();
  await Promise.all(closed);
});

test('a client that does not read is cut off', { timeout: 20_000 }, async () => {
  const { log, lines } = recordedLog();
  const metrics = async () => ({ contentType: 'text/plain', body: huge });
  const { port, stop } = await start({ silenceMs: 50, log, metrics });
  const socket = await askWithoutReading(port);
  while (!lines.some(({ message }) => message.includes('cut off'))) await setImmediate();
  // What had been sent can still be read; it is not all.
  assert.ok((await heard(socket)).length < huge.length);
  await stop();
});

/** Somebody asks for metrics that take their time, and the server is told to stop meanwhile. */
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

test('a request under way is answered before the server stops', { timeout: 4_000 }, async () => {
  const { collected, answer, stopped } = await stopMeanwhile();
  collected.resolve({ contentType: 'text/plain', body: 'up 1\n' });
  assert.equal(await (await answer).text(), 'up 1\n');
  await stopped;
});

test('a request under way that is never answered holds up the stop for a moment only', { timeout: 4_000 }, async () => {
  const { clock, answer, stopped } = await stopMeanwhile();
  clock.advance(1000);
  await stopped;
  await assert.rejects(answer);
});

test('a signal that has fired already opens nothing', async () => {
  const server = createHealthServer({ port: 0, clock: systemClock, log: recordedLog().log });
  await server.run(AbortSignal.abort());
});
