import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { connect, createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  type Client,
  createClient,
  createLogger,
  httpsTransport,
  namespaces,
  nodes,
  pods,
  type Transport,
} from '@tartan/kube';
import { sleep, systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import { type ControlPlane, startControlPlane } from '@tartan/tools-kubernetes';
import { createReviews } from '../../packages/tart-kubelet/src/api/auth/reviews.ts';
import { createKubeletApi } from '../../packages/tart-kubelet/src/api/server.ts';
import { createFakeRuntime, type FakeRuntime } from '../../packages/tart-kubelet/src/api/testing/fake-runtime.ts';
import { createKubectl, type Kubectl, textUntil } from './reach/kubectl.ts';

const nodeName = 'mac-1';
const namespace = 'kubelet-api';

interface World {
  controlPlane: ControlPlane;
  runtime: FakeRuntime;
  folder: string;
  kubectl: Kubectl['run'];
  start: Kubectl['start'];
  inTerminal: Kubectl['startInTerminal'];
  close(): Promise<void>;
}

/** The status says that the container runs: otherwise the API server refuses exec and logs. */
const makePod = async (client: Client): Promise<void> => {
  await client.create(namespaces, { apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } });
  await client.create(pods, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'vm', namespace },
    spec: {
      nodeName,
      automountServiceAccountToken: false,
      containers: [{ name: 'vm', image: 'ghcr.io/tuist/macos:26', stdin: true, tty: false }],
    },
  });
  const running = { name: 'vm', image: 'x', imageID: 'x', ready: true, restartCount: 0, state: { running: {} } };
  await client.patch(
    pods,
    { namespace, name: 'vm' },
    { type: 'merge', body: { status: { phase: 'Running', containerStatuses: [running] } } },
    { subresource: 'status' },
  );
};

const open = async (flags: readonly string[], env: Record<string, string>): Promise<World> => {
  const undo: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    for (const each of undo.splice(0).reverse()) await each();
  };
  try {
    const controlPlane = await startControlPlane({
      apiServerFlags: ['--disable-admission-plugins=ServiceAccount', ...flags],
    });
    undo.push(controlPlane.stop);
    const { url: server, caCertificate: ca, clientCertificate: cert, clientKey: key } = controlPlane;
    const as = (certificate: { cert: string; key: string }): Transport =>
      httpsTransport({ server, ca, clock: systemClock, credentials: () => ({ certificate }) });
    const admin = as({ cert, key });
    undo.push(() => admin.close());
    // The agent has only the rights of a Node: it may review who connects to it.
    const own = await controlPlane.issue({ user: `system:node:${nodeName}`, groups: ['system:nodes'] });
    const agent = as({ cert: own.certificate, key: own.key });
    undo.push(() => agent.close());
    const folder = mkdtempSync(join(tmpdir(), 'kubelet-api-'));
    undo.push(() => rmSync(folder, { recursive: true, force: true }));

    const runtime = createFakeRuntime({ folder, name: { namespace, pod: 'vm', container: 'vm' } });
    const serving = await controlPlane.issue({ user: `system:node:${nodeName}` });
    const api = createKubeletApi({
      runtime,
      reviews: createReviews({ transport: agent, clock: systemClock, nodeName }),
      nodeName,
      host: '127.0.0.1',
      port: 0,
      clientCA: ca,
      keyPair: { cert: serving.certificate, key: serving.key },
      clock: systemClock,
      log: createLogger({ clock: systemClock, level: 'info', write: () => {} }),
      metrics: async () => ({ contentType: 'text/plain', body: '' }),
    });
    const stop = new AbortController();
    const done = api.run(stop.signal);
    undo.push(async () => {
      stop.abort();
      await done;
      await runtime.endLog();
    });
    const { port } = await api.address;

    const client = createClient(admin, { clock: systemClock });
    await client.create(nodes, { apiVersion: 'v1', kind: 'Node', metadata: { name: nodeName } });
    const status = {
      addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
      daemonEndpoints: { kubeletEndpoint: { Port: port } },
      declaredFeatures: ['ExtendWebSocketsToKubelet'],
    };
    await client.patch(
      nodes,
      { name: nodeName },
      { type: 'merge', body: { status } },
      { subresource: 'status', fieldValidation: 'Ignore' },
    );
    await makePod(client);

    const kubectl = createKubectl({
      command: controlPlane.binaries.kubectl,
      kubeconfig: controlPlane.adminKubeconfigPath,
      namespace,
      home: folder,
      env,
    });
    undo.push(kubectl.close);
    return {
      controlPlane,
      runtime,
      folder,
      close,
      start: kubectl.start,
      kubectl: kubectl.run,
      inTerminal: kubectl.startInTerminal,
    };
  } catch (error) {
    await close();
    throw error;
  }
};

const runSuite = (title: string, flags: readonly string[], env: Record<string, string>): void => {
  describe(title, () => {
    let harness: World;
    before(async () => {
      harness = await open(flags, env);
    });
    after(() => harness?.close());

    test('exec runs a command and returns its output and exit code', async () => {
      const done = await harness.kubectl(['exec', 'vm', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3']);
      assert.equal(done.code, 3);
      assert.equal(done.stdout, 'out\n');
      assert.match(done.stderr, /^err\n/);
      assert.match(done.stderr, /exit code 3/);
      assert.equal((await harness.kubectl(['exec', 'vm', '--', 'true'])).code, 0);
    });

    test('exec of a missing command fails with a message', async () => {
      const done = await harness.kubectl(['exec', 'vm', '--', '/nothing/here']);
      assert.equal(done.code, 1);
      assert.match(done.stderr, /cannot run \/nothing\/here/);
    });

    test('exec -i passes input to its end', async () => {
      const done = await harness.kubectl(['exec', '-i', 'vm', '--', 'cat'], 'hello');
      assert.deepEqual(done, { code: 0, stdout: 'hello', stderr: '' });
    });

    test('exec ends although its input is still open', async () => {
      const child = harness.start(['exec', '-i', 'vm', '--', 'true']);
      const [code] = await once(child, 'exit');
      assert.equal(code, 0);
    });

    test('exec -it passes the size of the terminal', async () => {
      const command = ['exec', '-it', 'vm', '--', 'sh', '-c', 'read line; echo got $line'];
      const terminal = harness.inTerminal({ rows: 30, columns: 90 }, command);
      await textUntil(terminal.stdout, /size 90x30/);
      terminal.stdin.write('something\n');
      await textUntil(terminal.stdout, /got/);
      assert.deepEqual(await once(terminal, 'exit'), [0, null]);
    });

    test('a killed kubectl ends the command', async () => {
      const child = harness.start(['exec', 'vm', '--', 'sh', '-c', 'echo $$; exec sleep 1000']);
      const pid = Number(await textUntil(child.stdout, /^\d+\n/));
      assert.ok(harness.runtime.running.has(pid));
      child.kill('SIGKILL');
      await eventually('the command has ended', () => !harness.runtime.running.has(pid));
    });

    // Before 1.36 the API server translates the stream: it waits for the command too, and does not notice a disconnected client meanwhile.
    const isTranslated = flags.some((flag) => flag.startsWith('--emulated-version'));
    if (!isTranslated)
      test('a killed kubectl ends a command that does not read its input', async () => {
        const child = harness.start(['exec', '-i', 'vm', '--', 'sh', '-c', 'echo $$; exec sleep 1000']);
        const pid = Number(await textUntil(child.stdout, /^\d+\n/));
        child.stdin.on('error', () => {});
        // More than all buffers on the way can hold.
        const flood = (): void => {
          while (child.stdin.writable && child.stdin.write(Buffer.alloc(1024 * 1024)));
        };
        child.stdin.on('drain', flood);
        flood();
        await sleep(systemClock, 1500);
        child.kill('SIGKILL');
        await eventually('the command has ended', () => !harness.runtime.running.has(pid));
      });

    test('cp copies a file there and back', async () => {
      const bytes = randomBytes(3 * 1024 * 1024);
      const [from, there, back] = ['from', 'there', 'back'].map((name) => join(harness.folder, name));
      writeFileSync(from ?? '', bytes);
      const sent = await harness.kubectl(['cp', from ?? '', `vm:${there}`]);
      assert.equal(sent.code, 0, sent.stderr);
      const fetched = await harness.kubectl(['cp', `vm:${there}`, back ?? '']);
      assert.equal(fetched.code, 0, fetched.stderr);
      assert.ok(readFileSync(back ?? '').equals(bytes));
    });

    test('large output is complete', async () => {
      const done = await harness.kubectl(['exec', 'vm', '--', 'sh', '-c', 'head -c 20000000 /dev/zero | tr "\\0" x']);
      assert.equal(done.code, 0);
      assert.equal(done.stdout.length, 20_000_000);
    });

    test('logs, and logs -f until the container ends', async () => {
      await harness.runtime.log.write('stdout', Buffer.from('one\ntwo\nthree\n'));
      assert.equal((await harness.kubectl(['logs', 'vm', '--tail=2'])).stdout, 'two\nthree\n');
      assert.equal((await harness.kubectl(['logs', 'vm', '--limit-bytes=5'])).stdout, 'one\nt');
      assert.match(
        (await harness.kubectl(['logs', 'vm', '--timestamps', '--tail=1'])).stdout,
        /^\d{4}-.*\.\d+Z three\n$/,
      );
      assert.equal((await harness.kubectl(['logs', 'vm', '--since=1h'])).stdout, 'one\ntwo\nthree\n');
      const previous = await harness.kubectl(['logs', 'vm', '--previous']);
      assert.equal(previous.code, 1);
      assert.match(previous.stderr, /previous terminated container "vm" not found/);

      const child = harness.start(['logs', '-f', 'vm', '--tail=1']);
      const exited = once(child, 'exit');
      await textUntil(child.stdout, /three\n/);
      await harness.runtime.log.write('stdout', Buffer.from('four\n'));
      await textUntil(child.stdout, /four\n/);
      await harness.runtime.endLog();
      assert.deepEqual(await exited, [0, null]);
    });

    test('port-forward carries concurrent connections, and reports an unreachable port', async () => {
      const target: Server = createServer({ allowHalfOpen: true }, (socket) => {
        socket.on('error', () => {});
        socket.on('data', (chunk) => socket.write(chunk));
        socket.on('end', () => socket.end('bye'));
      }).listen(0, '127.0.0.1');
      await once(target, 'listening');
      const { port } = target.address() as { port: number };
      try {
        const child = harness.start(['port-forward', 'pod/vm', `:${port}`, ':1']);
        const text = await textUntil(child.stdout, /127\.0\.0\.1:\d+ -> 1\n/);
        const [, open = ''] = new RegExp(`127.0.0.1:(\\d+) -> ${port}`).exec(text) ?? [];
        const [, refused = ''] = /127.0.0.1:(\d+) -> 1\n/.exec(text) ?? [];
        const echo = async (words: string): Promise<string> => {
          const socket = connect(Number(open), '127.0.0.1');
          socket.end(words);
          let answer = '';
          for await (const chunk of socket) answer += String(chunk);
          return answer;
        };
        const words = ['first', 'second', 'x'.repeat(1_000_000)];
        assert.deepEqual(
          await Promise.all(words.map(echo)),
          words.map((each) => `${each}bye`),
        );
        const lost = connect(Number(refused), '127.0.0.1');
        lost.on('error', () => {});
        lost.write('hello');
        await textUntil(child.stderr, /connection refused/);
        lost.destroy();
        child.kill('SIGKILL');
      } finally {
        target.close();
      }
    });

    test('attach shows the main process, and detaching does not end it', async () => {
      const child = harness.start(['attach', '-i', 'vm']);
      child.stdin.write('hello\n');
      await textUntil(child.stdout, /main: hello\n/);
      child.kill('SIGKILL');
      await eventually('it is detached', () => harness.runtime.detached > 0);
      const again = harness.start(['attach', '-i', 'vm']);
      const exited = once(again, 'exit');
      again.stdin.write('still there\n');
      await textUntil(again.stdout, /main: still there\n/);
      harness.runtime.endMain({ kind: 'exited', code: 0 });
      assert.deepEqual(await exited, [0, null]);
    });

    test('unauthenticated and unauthorized requests are refused', async () => {
      const { controlPlane } = harness;
      const mallory = await controlPlane.issue({ user: 'mallory' });
      const client = createClient(
        httpsTransport({
          server: controlPlane.url,
          ca: controlPlane.caCertificate,
          clock: systemClock,
          credentials: () => ({ certificate: { cert: controlPlane.clientCertificate, key: controlPlane.clientKey } }),
        }),
        { clock: systemClock },
      );
      const node = await client.get(nodes, { name: nodeName });
      const port = node.status?.daemonEndpoints?.kubeletEndpoint?.Port ?? 0;
      const ask = async (options: object): Promise<number> => {
        const outgoing = request({
          host: '127.0.0.1',
          port,
          path: '/pods',
          rejectUnauthorized: false,
          agent: false,
          ...options,
        });
        outgoing.end();
        const [response] = await once(outgoing, 'response');
        response.resume();
        return response.statusCode;
      };
      assert.equal(await ask({}), 401);
      assert.equal(await ask({ headers: { authorization: 'Bearer nobody-knows-this' } }), 401);
      assert.equal(await ask({ cert: mallory.certificate, key: mallory.key }), 403);
      assert.equal(await ask({ cert: controlPlane.clientCertificate, key: controlPlane.clientKey }), 200);
    });
  });
};

runSuite('kubectl reaches into a Pod of ours, over WebSocket', [], {});
runSuite('kubectl reaches into a Pod of ours, as an older client does, over SPDY', [], {
  KUBECTL_REMOTE_COMMAND_WEBSOCKETS: 'false',
  KUBECTL_PORT_FORWARD_WEBSOCKETS: 'false',
});
runSuite('kubectl reaches into a Pod of ours behind an API server of 1.35', ['--emulated-version=1.35'], {});
