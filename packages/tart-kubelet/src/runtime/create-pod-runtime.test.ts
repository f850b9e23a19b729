import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '@tartan/kube/clock';
import { createProcessTable } from '@tartan/tart';
import { HttpError } from '../api/http-response.ts';
import type { ExecRequest, LogRequest, RemoteSession } from '../api/pod-runtime.ts';
import { formatLog } from '../logs/read-log.ts';
import { readUsage } from './create-pod-runtime.ts';
import { openRuntimeHarness, type RuntimeHarness } from './testing/harness.ts';

const never = new AbortController().signal;
const plain: LogRequest = { follow: false, previous: false, tailLines: undefined, signal: never };
const streams = { stdin: false, stdout: true, stderr: true, tty: false };
const problem = (code: number, pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof HttpError, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, pattern);
  return true;
};

/** Reads a stream until `pattern` matches, and leaves it open. */
const until = async (stream: Readable | undefined, pattern: RegExp): Promise<string> => {
  let said = '';
  for await (const chunk of stream?.iterator({ destroyOnReturn: false }) ?? []) {
    said += String(chunk);
    if (pattern.test(said)) return said;
  }
  throw new Error(`${pattern.source} was not found in ${JSON.stringify(said)}`);
};

describe('the Pod runtime', { timeout: 60_000 }, () => {
  let harness: RuntimeHarness;
  beforeEach(async () => {
    harness = await openRuntimeHarness();
  });
  afterEach(() => harness.close());

  const logText = async (request: Partial<LogRequest> = {}, container = harness.container): Promise<string> => {
    let said = '';
    const records = await harness.runtime.readLog(container, { ...plain, ...request });
    for await (const piece of formatLog(records, {})) said += String(piece);
    return said;
  };
  const write = async (line: string): Promise<void> => (await harness.log()).write('stdout', Buffer.from(`${line}\n`));
  const exec = (command: readonly string[], more: Partial<ExecRequest> = {}): Promise<RemoteSession> =>
    harness.runtime.exec(harness.container, { ...streams, command, ...more });
  const off = (): void => {
    if (harness.view) harness.view = { ...harness.view, running: undefined };
  };

  describe('logs', () => {
    test('can be read, followed to the end of the run, and read for the previous run', async () => {
      await write('one');
      await write('two');
      assert.equal(await logText(), 'one\ntwo\n');
      assert.equal(await logText({ tailLines: 1 }), 'two\n');
      const followed = logText({ follow: true });
      await write('three');
      await harness.finish();
      assert.equal(await followed, 'one\ntwo\nthree\n');
      await assert.rejects(
        logText({ previous: true }),
        problem(400, /^previous terminated container "runner" in pod "runner-1" not found$/),
      );
      await harness.restart();
      await write('again');
      assert.equal(await logText(), 'again\n');
      assert.equal(await logText({ previous: true }), 'one\ntwo\nthree\n');
      assert.equal(await logText({ previous: true, follow: true }), 'one\ntwo\nthree\n');
    });

    test('of a run that never started are an error with the waiting reason', async () => {
      off();
      const waits = problem(400, /^container "runner" in pod "runner-1" is waiting to start: Cloning$/);
      await assert.rejects(logText(), waits);
      await assert.rejects(logText({ follow: true }), waits);
      if (harness.view) harness.view = { ...harness.view, pod: { ...harness.view.pod, status: {} } };
      await assert.rejects(logText(), problem(400, /is waiting to start - no logs yet$/));
    });

    test('are those of the previous run during a back-off', async () => {
      await write('crashed');
      await harness.restart();
      off();
      assert.equal(await logText(), 'crashed\n');
      assert.equal(await logText({ follow: true }), 'crashed\n');
    });

    test('of the previous run are an error when they are deleted', async () => {
      await harness.restart();
      await assert.rejects(logText({ previous: true }), problem(400, /^previous terminated container .* not found$/));
    });

    test('can be followed before the first line', async () => {
      const followed = logText({ follow: true });
      await write('first');
      await harness.finish();
      assert.equal(await followed, 'first\n');
    });

    test('end for followers when the Pod is deleted or replaced', async () => {
      await write('last');
      const ends = async (): Promise<string> => {
        const followed = logText({ follow: true });
        harness.view = undefined;
        // The runs then forget the log.
        harness.changes.notify();
        return followed;
      };
      assert.equal(await ends(), 'last\n');
    });

    test('of an unknown Pod are not found', async () => {
      await assert.rejects(logText({}, { ...harness.container, pod: 'x' }), problem(404, /^pod "x" does not exist$/));
      await assert.rejects(
        logText({}, { ...harness.container, container: 'x' }),
        problem(404, /^container "x" not found in pod "runner-1"$/),
      );
    });
  });

  describe('exec', () => {
    test('separates stdout and stderr, and returns the exit code', async () => {
      const session = await exec(['sh', '-c', 'echo out; echo err >&2; exit 7']);
      assert.ok(session.stdout && session.stderr);
      assert.deepEqual(await Promise.all([text(session.stdout), text(session.stderr)]), ['out\n', 'err\n']);
      assert.deepEqual(await session.result, { kind: 'exited', code: 7 });
      session.close();
    });

    test('reads stdin to the end', async () => {
      const session = await exec(['cat'], { stdin: true });
      session.stdin?.end('hello');
      assert.ok(session.stdout);
      session.stderr?.resume();
      assert.equal(await text(session.stdout), 'hello');
      assert.deepEqual(await session.result, { kind: 'exited', code: 0 });
    });

    test('does not block when no output was requested', async () => {
      const session = await exec(['sh', '-c', 'head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2'], {
        stdout: false,
        stderr: false,
      });
      assert.deepEqual([session.stdout, session.stderr], [undefined, undefined]);
      assert.deepEqual(await session.result, { kind: 'exited', code: 0 });
    });

    test('ends its output with the command, although a child holds the pipe', async () => {
      const session = await exec(['sh', '-c', 'sleep 1000 & echo $!']);
      assert.ok(session.stdout && session.stderr);
      const [said] = await Promise.all([text(session.stdout), text(session.stderr)]);
      process.kill(Number(said));
      assert.deepEqual(await session.result, { kind: 'exited', code: 0 });
    });

    test('passes the terminal size', async () => {
      const command =
        'test -t 0 || exit 1; until test "$(stty size)" = "40 100"; do sleep 0.01; done; echo sized; exit 3';
      const session = await exec(['sh', '-c', command], { stdin: true, stderr: false, tty: true });
      assert.ok(session.stdout && session.stderr === undefined);
      for (let columns = 81; columns <= 100; columns += 1) session.resize({ columns, rows: 40 });
      assert.match(await text(session.stdout), /sized/);
      assert.deepEqual(await session.result, { kind: 'exited', code: 3 });
    });

    test('is killed when the client disconnects', async () => {
      const session = await exec(['sh', '-c', 'echo $$; exec sleep 1000']);
      const pid = Number(await until(session.stdout, /\n/));
      session.close();
      session.close();
      assert.deepEqual(await session.result, { kind: 'failed', message: 'the command was ended' });
      const processes = createProcessTable(process.env);
      while ((await processes.find(pid)) !== undefined);
    });

    test('needs a running VM, and says when the guest agent is missing', async () => {
      harness.fake.controls.guest('vm-1', { agent: 'absent' });
      const session = await exec(['true']);
      const outcome = await session.result;
      assert.ok(outcome.kind === 'failed');
      assert.match(outcome.message, /install tart-guest-agent in the image/);
      off();
      await assert.rejects(exec(['true']), problem(400, /^the virtual machine of pod "runner-1" is not running/));
      harness.view = undefined;
      await assert.rejects(exec(['true']), problem(404, /does not exist/));
    });
  });

  describe('attach', () => {
    const attach = (more: Partial<typeof streams> = {}): Promise<RemoteSession> =>
      harness.runtime.attach(harness.container, { ...streams, ...more });

    test('streams new output, stdout and stderr apart, until the run ends', async () => {
      await write('old');
      const session = await attach();
      assert.ok(session.stdout && session.stderr);
      const both = new AbortController();
      const shown = [session.stdout, session.stderr].map((stream) => once(stream, 'readable'));
      const seen = Promise.all(shown).finally(() => both.abort());
      const log = await harness.log();
      while (!both.signal.aborted) {
        await write('new');
        await log.write('stderr', Buffer.from('bad\n'));
        await new Promise(setImmediate);
      }
      await seen;
      await harness.finish();
      assert.match(await text(session.stdout), /^(new\n)+$/);
      assert.match(await text(session.stderr), /^(bad\n)+$/);
      assert.deepEqual(await session.result, { kind: 'exited', code: 0 });
    });

    test('does not stop the run on detach', async () => {
      const session = await attach({ tty: true, stderr: false });
      assert.equal(session.stderr, undefined);
      session.close();
      assert.deepEqual(await session.result, { kind: 'exited', code: 0 });
      assert.deepEqual(await (await exec(['true'])).result, { kind: 'exited', code: 0 });
    });

    test('rejects stdin and names kubectl exec instead', async () => {
      await assert.rejects(attach({ stdin: true }), problem(400, /no console to attach to.*kubectl exec -it runner-1/));
      off();
      await assert.rejects(attach(), problem(400, /is not running/));
    });
  });

  describe('port-forward', () => {
    const pod = { namespace: 'default', pod: 'runner-1' };

    test('carries data both ways, with half-close', async () => {
      const received = Promise.withResolvers<string>();
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        socket.end('said all');
        text(socket).then(received.resolve, received.reject);
      }).listen(0, '127.0.0.1');
      try {
        await once(server, 'listening');
        const address = server.address();
        assert.ok(typeof address === 'object' && address);
        const connection = await harness.runtime.dial(pod, address.port, never);
        let said = '';
        connection.on('data', (chunk) => {
          said += String(chunk);
        });
        await once(connection, 'end');
        assert.equal(said, 'said all');
        connection.end('still listening?');
        assert.equal(await received.promise, 'still listening?');
      } finally {
        server.close();
      }
    });

    test('is refused for a closed port, a stopped VM, a VM without address, and an aborted client', async () => {
      await assert.rejects(harness.runtime.dial(pod, 1, never), problem(500, /^connection refused/));
      await assert.rejects(harness.runtime.dial(pod, 1, AbortSignal.abort()), problem(500, /the client is gone/));
      if (harness.view?.running)
        harness.view = { ...harness.view, running: { ...harness.view.running, address: undefined } };
      await assert.rejects(harness.runtime.dial(pod, 1, never), problem(400, /has no address yet$/));
      off();
      await assert.rejects(harness.runtime.dial(pod, 1, never), problem(400, /is not running/));
    });
  });

  test('reports resource usage, and omits what is unknown', async () => {
    const usage = await harness.runtime.usage();
    const [first, ...others] = usage.containers;
    assert.deepEqual(others, []);
    assert.deepEqual([first?.pod, first?.container], ['runner-1', 'runner']);
    assert.ok((first?.memoryBytes ?? 0) > 0 && first?.cpuSeconds !== undefined && (first?.startedAt ?? 0) > 0);
    assert.ok((usage.node.cpuSeconds ?? 0) > 0 && (usage.node.memoryBytes ?? 0) > 0);
    if (harness.view?.running)
      harness.view = { ...harness.view, running: { ...harness.view.running, pid: 2 ** 22 - 1 } };
    const [unknown] = (await harness.runtime.usage()).containers;
    assert.equal(unknown?.cpuSeconds, undefined);
    const views = { list: () => [...harness.runtime.pods()], get: () => harness.view };
    const silent = await readUsage(views, async () => Promise.reject(new Error('no ps')), systemClock);
    assert.deepEqual([silent.containers.length, silent.containers[0]?.memoryBytes], [1, undefined]);
    off();
    assert.deepEqual((await harness.runtime.usage()).containers, []);
    assert.deepEqual(
      harness.runtime.pods().map(({ metadata }) => metadata?.name),
      ['runner-1'],
    );
  });
});
