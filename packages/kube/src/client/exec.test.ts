import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { createKubernetes, type Kubernetes } from '@tartan/sim-kubernetes';
import { type WebSocket, WebSocketServer } from 'ws';
import { systemClock } from '../clock/clock.ts';
import { manualClock } from '../clock/manual-clock.ts';
import { isKubeError } from '../errors/kube-error.ts';
import { httpsTransport } from '../transport/https-transport.ts';
import { createSubresources, type Subresources } from './subresources.ts';

describe('running a command in a Pod', () => {
  const pod = { namespace: 'n', name: 'p' };
  let identity: Kubernetes['identity'];
  const closing: (() => unknown)[] = [];
  before(async () => {
    ({ identity } = await createKubernetes({ controllers: false }));
  });
  after(() => Promise.all(closing.map((close) => close())));

  type OnSocket = (socket: WebSocket, incoming: IncomingMessage) => void;

  /** An API server as far as exec goes; `onUpgrade` keeps it from switching protocols. */
  const serveExec = async (onSocket: OnSocket, onUpgrade?: (socket: Socket) => void): Promise<string> => {
    const { certificate, key } = await identity.issue({
      commonName: 'server',
      organizations: [],
      addresses: ['127.0.0.1'],
      usages: ['server auth', 'digital signature'],
      seconds: 3600,
    });
    const server = createServer({ cert: certificate, key });
    const sockets = new Set<Socket>();
    const websockets = new WebSocketServer({ noServer: true, perMessageDeflate: false });
    server.on('connection', (socket: Socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
    });
    server.on('upgrade', (incoming: IncomingMessage, socket: Socket, head: Buffer) => {
      socket.on('error', () => {});
      if (onUpgrade) onUpgrade(socket);
      else
        websockets.handleUpgrade(incoming, socket, head, (websocket) => {
          websocket.on('error', () => {});
          onSocket(websocket, incoming);
        });
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    closing.push(() => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => void server.close(resolve));
    });
    return `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  const subresourcesOf = (url: string, clock = systemClock): Subresources => {
    const credentials = () => ({ headers: { authorization: 'Bearer t' } });
    const transport = httpsTransport({ server: url, ca: identity.caCertificate, credentials, clock });
    return createSubresources(transport, { clock });
  };

  const frame = (channel: number, text: string): Buffer => Buffer.concat([Uint8Array.of(channel), Buffer.from(text)]);
  const status = (more: object): Buffer => frame(3, JSON.stringify({ metadata: {}, ...more }));
  const exitCode = (code: string): Buffer =>
    status({
      status: 'Failure',
      reason: 'NonZeroExitCode',
      message: `command terminated with exit code ${code}`,
      details: { causes: [{ reason: 'ExitCode', message: code }] },
    });

  async function* bytes(...texts: readonly string[]): AsyncGenerator<Uint8Array> {
    for (const text of texts) yield Buffer.from(text);
  }

  const collector = () => {
    const parts: string[] = [];
    return { parts, take: (chunk: Uint8Array) => void parts.push(Buffer.from(chunk).toString()) };
  };

  test('a command gets its input, and its output and exit status come back', async () => {
    let asked = '';
    const url = await serveExec((socket, incoming) => {
      asked = `${incoming.url} ${incoming.headers['sec-websocket-protocol']} ${incoming.headers['authorization']}`;
      let input = '';
      socket.send(frame(1, ''));
      socket.on('message', (data: Buffer) => {
        if (data[0] === 0) input += data.subarray(1).toString();
        if (data[0] === 255 && data[1] === 0) {
          socket.send(frame(1, input.toUpperCase()));
          socket.send(frame(2, 'oh'));
          socket.send(frame(9, 'a channel of tomorrow'));
          socket.send(exitCode('3'));
          socket.close(1000);
        }
      });
    });
    const [out, err] = [collector(), collector()];
    const outcome = await subresourcesOf(url).execInPod(pod, {
      container: 'c',
      command: ['sh', '-c', 'a & b'],
      stdin: bytes('ab', 'c', 'x'.repeat(70_000)),
      stdout: out.take,
      stderr: err.take,
    });
    assert.deepEqual(outcome, { kind: 'exited', code: 3 });
    assert.equal(out.parts.join(''), `ABC${'X'.repeat(70_000)}`);
    assert.ok(!out.parts.includes(''));
    assert.deepEqual(err.parts, ['oh']);
    const query = 'command=sh&command=-c&command=a+%26+b&container=c&stdin=true&stdout=true&stderr=true';
    assert.equal(asked, `/api/v1/namespaces/n/pods/p/exec?${query} v5.channel.k8s.io Bearer t`);
  });

  test('every way a command can end maps to an outcome', async () => {
    const cases: [Buffer[], object][] = [
      [[status({ status: 'Success' })], { kind: 'exited', code: 0 }],
      [[exitCode('137')], { kind: 'exited', code: 137 }],
      [[exitCode('many')], { kind: 'notRun', message: 'command terminated with exit code many' }],
      [
        [status({ status: 'Failure', reason: 'InternalError', message: 'no such\nfile' })],
        { kind: 'notRun', message: 'no such file' },
      ],
    ];
    for (const [frames, expected] of cases) {
      const url = await serveExec((socket) => {
        for (const each of frames) socket.send(each);
        socket.close(1000);
      });
      assert.deepEqual(await subresourcesOf(url).execInPod(pod, { command: ['x'] }), expected);
    }
  });

  test('a stream that ends without a status, or breaks, has lost its command', async () => {
    for (const end of ['close', 'terminate'] as const) {
      const url = await serveExec((socket) => {
        socket.send(frame(1, 'part'), () => socket[end]());
      });
      const out = collector();
      const outcome = await subresourcesOf(url).execInPod(pod, { command: ['x'], stdout: out.take });
      assert.equal(outcome.kind, 'lost');
      assert.ok(outcome.kind === 'lost' && isKubeError(outcome.error, 'unreachable'));
      assert.deepEqual(out.parts, ['part']);
    }
  });

  test('an invalid exit status is malformed', async () => {
    const url = await serveExec((socket) => socket.send(frame(3, 'nonsense')));
    await assert.rejects(subresourcesOf(url).execInPod(pod, { command: ['x'] }), { reason: 'malformed' });
  });

  test('the error of a server that rejects the exec is passed on', async () => {
    const body = JSON.stringify({ kind: 'Status', code: 403, reason: 'Forbidden', message: 'pods "p" is forbidden' });
    const refuse = (socket: Socket): void =>
      void socket.end(`HTTP/1.1 403 Forbidden\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
    const url = await serveExec(() => assert.fail(), refuse);
    const refusing = subresourcesOf(url).execInPod(pod, { command: ['x'] });
    await assert.rejects(refusing, { name: 'KubeError', reason: 'forbidden', message: /pods "p" is forbidden/ });
  });

  test('a server that does not answer runs into the deadline', async () => {
    const asked = Promise.withResolvers<void>();
    const url = await serveExec(
      () => assert.fail(),
      () => asked.resolve(),
    );
    const clock = manualClock();
    const waiting = assert.rejects(subresourcesOf(url, clock).execInPod(pod, { command: ['x'] }), {
      reason: 'timeout',
    });
    await asked.promise;
    clock.advance(30_000);
    await waiting;
  });

  test('a command may run for longer than it took to begin', async () => {
    const clock = manualClock();
    const url = await serveExec((socket) => {
      socket.send(frame(1, 'begin'));
      socket.on('message', () => socket.send(status({ status: 'Success' })));
    });
    const started = Promise.withResolvers<void>();
    async function* later(): AsyncGenerator<Uint8Array> {
      await started.promise;
      clock.advance(3_600_000);
      yield Buffer.from('x');
    }
    const options = { command: ['x'], stdin: later(), stdout: () => started.resolve() };
    assert.deepEqual(await subresourcesOf(url, clock).execInPod(pod, options), { kind: 'exited', code: 0 });
  });

  test('a signal ends a command that goes on, and its input', async () => {
    const gone = Promise.withResolvers<void>();
    const url = await serveExec((socket) => {
      socket.send(frame(1, 'begin'));
      socket.once('close', () => gone.resolve());
    });
    const abort = new AbortController();
    const left = Promise.withResolvers<void>();
    async function* forever(): AsyncGenerator<Uint8Array> {
      try {
        for (;;) {
          await new Promise((resolve) => setImmediate(resolve));
          yield Buffer.from('x');
        }
      } finally {
        left.resolve();
      }
    }
    await assert.rejects(
      subresourcesOf(url).execInPod(pod, {
        command: ['x'],
        stdin: forever(),
        stdout: () => abort.abort(),
        signal: abort.signal,
      }),
      { reason: 'aborted' },
    );
    await Promise.all([gone.promise, left.promise]);
  });

  test('a caller whose own streams fail ends the command’s stream', async () => {
    const fail = (): never => {
      throw new Error('disk full');
    };
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield fail();
    }
    for (const options of [{ stdout: fail }, { stdin: failing() }]) {
      const gone = Promise.withResolvers<void>();
      const url = await serveExec((socket) => {
        socket.send(frame(1, 'begin'));
        socket.once('close', () => gone.resolve());
      });
      const running = subresourcesOf(url).execInPod(pod, { command: ['x'], ...options });
      await assert.rejects(running, {
        name: 'KubeError',
        reason: 'aborted',
        message: /stdin, stdout or stderr failed/,
      });
      await gone.promise;
    }
  });

  test('a slow reader applies backpressure', async () => {
    let sent = 0;
    const url = await serveExec((socket) => {
      const pump = (): void => {
        if (sent >= 1_000) {
          socket.send(status({ status: 'Success' }));
          return;
        }
        sent++;
        socket.send(Buffer.concat([Uint8Array.of(1), Buffer.alloc(65_536)]), pump);
      };
      pump();
    });
    const release = Promise.withResolvers<void>();
    const first = Promise.withResolvers<void>();
    let received = 0;
    const running = subresourcesOf(url).execInPod(pod, {
      command: ['x'],
      stdout: async ({ length }) => {
        received += length;
        first.resolve();
        await release.promise;
      },
    });
    await first.promise;
    let before = -1;
    while (before !== sent) {
      before = sent;
      for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    }
    assert.ok(sent < 500, `${sent} messages of 64 KiB are under way`);
    release.resolve();
    assert.deepEqual(await running, { kind: 'exited', code: 0 });
    assert.equal(received, 1_000 * 65_536);
  });
});
