import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { systemClock } from '@tartan/kube/clock';
import { createProcessTable } from '@tartan/tart';
import type { ExecRequest, LogRequest, RemoteSession } from '../api/pod-runtime.ts';
import { ApiProblem } from '../api/problem.ts';
import { showLog } from '../logs/show-log.ts';
import { readUsage } from './usage.ts';
import { openRuntimeStage, type RuntimeStage } from './testing/runtime-on-fake-tart.ts';

const never = new AbortController().signal;
const plain: LogRequest = { follow: false, previous: false, tailLines: undefined, signal: never };
const streams = { stdin: false, stdout: true, stderr: true, tty: false };
const problem = (code: number, pattern: RegExp) => (error: unknown) => {
  assert.ok(error instanceof ApiProblem, String(error));
  assert.equal(error.code, code);
  assert.match(error.message, pattern);
  return true;
};

/** The text of a stream up to where `pattern` is found in it. The stream goes on. */
const until = async (stream: Readable | undefined, pattern: RegExp): Promise<string> => {
  let said = '';
  for await (const chunk of stream?.iterator({ destroyOnReturn: false }) ?? []) {
    said += String(chunk);
    if (pattern.test(said)) return said;
  }
  throw new Error(`${pattern.source} was not found in ${JSON.stringify(said)}`);
};

describe('reaching into a Pod of this Mac', { timeout: 60_000 }, () => {
  let stage: RuntimeStage;
  beforeEach(async () => {
    stage = await openRuntimeStage();
  });
  afterEach(() => stage.close());

  const logText = async (request: Partial<LogRequest> = {}, container = stage.container): Promise<string> => {
    let said = '';
    const records = await stage.runtime.readLog(container, { ...plain, ...request });
    for await (const piece of showLog(records, {})) said += String(piece);
    return said;
  };
  const write = async (line: string): Promise<void> => (await stage.log()).write('stdout', Buffer.from(`${line}\n`));
  const exec = (command: readonly string[], more: Partial<ExecRequest> = {}): Promise<RemoteSession> =>
    stage.runtime.exec(stage.container, { ...streams, command, ...more });
  const off = (): void => {
    if (stage.view) stage.view = { ...stage.view, running: undefined };
  };

  describe('its log', () => {
    test('is read, followed until the run is finished, and that of the run before is there', async () => {
      await write('one');
      await write('two');
      assert.equal(await logText(), 'one\ntwo\n');
      assert.equal(await logText({ tailLines: 1 }), 'two\n');
      const followed = logText({ follow: true });
      await write('three');
      await stage.finish();
      assert.equal(await followed, 'one\ntwo\nthree\n');
      await assert.rejects(
        logText({ previous: true }),
        problem(400, /^previous terminated container "runner" in pod "runner-1" not found$/),
      );
      await stage.restart();
      await write('again');
      assert.equal(await logText(), 'again\n');
      assert.equal(await logText({ previous: true }), 'one\ntwo\nthree\n');
      assert.equal(await logText({ previous: true, follow: true }), 'one\ntwo\nthree\n');
    });

    test('of a run that never started is none, and says what it waits for', async () => {
      off();
      const waits = problem(400, /^container "runner" in pod "runner-1" is waiting to start: Cloning$/);
      await assert.rejects(logText(), waits);
      await assert.rejects(logText({ follow: true }), waits);
      if (stage.view) stage.view = { ...stage.view, pod: { ...stage.view.pod, status: {} } };
      await assert.rejects(logText(), problem(400, /is waiting to start - no logs yet$/));
    });

    test('is that of the run before while the next one waits, as during a back-off', async () => {
      await write('crashed');
      await stage.restart();
      off();
      assert.equal(await logText(), 'crashed\n');
      assert.equal(await logText({ follow: true }), 'crashed\n');
    });

    test('of the run before is none when nothing is left of it', async () => {
      await stage.restart();
      await assert.rejects(logText({ previous: true }), problem(400, /^previous terminated container .* not found$/));
    });

    test('may be followed before its first line', async () => {
      const followed = logText({ follow: true });
      await write('first');
      await stage.finish();
      assert.equal(await followed, 'first\n');
    });

    test('ends for who follows it when the Pod is gone, or another one has its name', async () => {
      await write('last');
      const path = stage.folder;
      const ends = async (): Promise<string> => {
        const followed = logText({ follow: true });
        stage.view = undefined;
        // Whoever looks after runs forgets the log then.
        stage.changes.forget(`${path}/logs/uid-1/runner/0.log`);
        return followed;
      };
      assert.equal(await ends(), 'last\n');
    });

    test('of nobody is not found', async () => {
      await assert.rejects(logText({}, { ...stage.container, pod: 'x' }), problem(404, /^pod "x" does not exist$/));
      await assert.rejects(
        logText({}, { ...stage.container, container: 'x' }),
        problem(404, /^container "x" not found in pod "runner-1"$/),
      );
    });
  });

  describe('a command', () => {
    test('has its output apart, and its exit code', async () => {
      const session = await exec(['sh', '-c', 'echo out; echo err >&2; exit 7']);
      assert.ok(session.stdout && session.stderr);
      assert.deepEqual(await Promise.all([text(session.stdout), text(session.stderr)]), ['out\n', 'err\n']);
      assert.deepEqual(await session.outcome, { kind: 'exited', code: 7 });
      session.end();
    });

    test('reads its input to the end', async () => {
      const session = await exec(['cat'], { stdin: true });
      session.stdin?.end('hello');
      assert.ok(session.stdout);
      session.stderr?.resume();
      assert.equal(await text(session.stdout), 'hello');
      assert.deepEqual(await session.outcome, { kind: 'exited', code: 0 });
    });

    test('does not wait for who asked for none of its output', async () => {
      const session = await exec(['sh', '-c', 'head -c 1000000 /dev/zero; head -c 1000000 /dev/zero >&2'], {
        stdout: false,
        stderr: false,
      });
      assert.deepEqual([session.stdout, session.stderr], [undefined, undefined]);
      assert.deepEqual(await session.outcome, { kind: 'exited', code: 0 });
    });

    test('ends its output when it ends, whoever it has left behind', async () => {
      await stage.close();
      stage = await openRuntimeStage({ clock: { ...systemClock, after: (_ms, run) => systemClock.after(50, run) } });
      const session = await exec(['sh', '-c', 'sleep 1000 & echo $!']);
      assert.ok(session.stdout && session.stderr);
      const [said] = await Promise.all([text(session.stdout), text(session.stderr)]);
      process.kill(Number(said));
      assert.deepEqual(await session.outcome, { kind: 'exited', code: 0 });
    });

    test('in a terminal learns its size', async () => {
      const command =
        'test -t 0 || exit 1; until test "$(stty size)" = "40 100"; do sleep 0.01; done; echo sized; exit 3';
      const session = await exec(['sh', '-c', command], { stdin: true, stderr: false, tty: true });
      assert.ok(session.stdout && session.stderr === undefined);
      for (let width = 81; width <= 100; width += 1) session.resize({ width, height: 40 });
      assert.match(await text(session.stdout), /sized/);
      assert.deepEqual(await session.outcome, { kind: 'exited', code: 3 });
    });

    test('is killed with its client', async () => {
      const session = await exec(['sh', '-c', 'echo $$; exec sleep 1000']);
      const pid = Number(await until(session.stdout, /\n/));
      session.end();
      session.end();
      assert.deepEqual(await session.outcome, { kind: 'failed', message: 'the command was ended' });
      const processes = createProcessTable(process.env);
      while ((await processes.find(pid)) !== undefined);
    });

    test('needs a machine that is on, and says what an image lacks', async () => {
      stage.fake.controls.guest('vm-1', { agent: 'absent' });
      const session = await exec(['true']);
      const outcome = await session.outcome;
      assert.ok(outcome.kind === 'failed');
      assert.match(outcome.message, /install tart-guest-agent in the image/);
      off();
      await assert.rejects(exec(['true']), problem(400, /^the virtual machine of pod "runner-1" is not running/));
      stage.view = undefined;
      await assert.rejects(exec(['true']), problem(404, /does not exist/));
    });
  });

  describe('attach', () => {
    const attach = (more: Partial<typeof streams> = {}): Promise<RemoteSession> =>
      stage.runtime.attach(stage.container, { ...streams, ...more });

    test('shows what comes from now on, each stream by itself, and ends with the run', async () => {
      await write('old');
      const session = await attach();
      assert.ok(session.stdout && session.stderr);
      const both = new AbortController();
      const shown = [session.stdout, session.stderr].map((stream) => once(stream, 'readable'));
      const seen = Promise.all(shown).finally(() => both.abort());
      const log = await stage.log();
      while (!both.signal.aborted) {
        await write('new');
        await log.write('stderr', Buffer.from('bad\n'));
        await new Promise(setImmediate);
      }
      await seen;
      await stage.finish();
      assert.match(await text(session.stdout), /^(new\n)+$/);
      assert.match(await text(session.stderr), /^(bad\n)+$/);
      assert.deepEqual(await session.outcome, { kind: 'exited', code: 0 });
    });

    test('leaving it ends nothing', async () => {
      const session = await attach({ tty: true, stderr: false });
      assert.equal(session.stderr, undefined);
      session.end();
      assert.deepEqual(await session.outcome, { kind: 'exited', code: 0 });
      assert.deepEqual(await (await exec(['true'])).outcome, { kind: 'exited', code: 0 });
    });

    test('takes no input: there is no console, and it says what to use', async () => {
      await assert.rejects(attach({ stdin: true }), problem(400, /no console to attach to.*kubectl exec -it runner-1/));
      off();
      await assert.rejects(attach(), problem(400, /is not running/));
    });
  });

  describe('a port', () => {
    const pod = { namespace: 'default', pod: 'runner-1' };

    test('of the guest carries both ways, each ending by itself', async () => {
      const heard = Promise.withResolvers<string>();
      const server = createServer({ allowHalfOpen: true }, (socket) => {
        socket.end('said all');
        text(socket).then(heard.resolve, heard.reject);
      }).listen(0, '127.0.0.1');
      try {
        await once(server, 'listening');
        const address = server.address();
        assert.ok(typeof address === 'object' && address);
        const connection = await stage.runtime.dial(pod, address.port, never);
        let said = '';
        connection.on('data', (chunk) => {
          said += String(chunk);
        });
        await once(connection, 'end');
        assert.equal(said, 'said all');
        connection.end('still listening?');
        assert.equal(await heard.promise, 'still listening?');
      } finally {
        server.close();
      }
    });

    test('that nobody serves, of a guest that is off, without an address or with a client that left, is refused', async () => {
      await assert.rejects(stage.runtime.dial(pod, 1, never), problem(500, /^connection refused/));
      await assert.rejects(stage.runtime.dial(pod, 1, AbortSignal.abort()), problem(500, /the client is gone/));
      if (stage.view?.running) stage.view = { ...stage.view, running: { ...stage.view.running, address: undefined } };
      await assert.rejects(stage.runtime.dial(pod, 1, never), problem(400, /has no address yet$/));
      off();
      await assert.rejects(stage.runtime.dial(pod, 1, never), problem(400, /is not running/));
    });
  });

  test('its use of the Mac is told, and left out where nobody knows it', async () => {
    const usage = await stage.runtime.usage();
    const [first, ...others] = usage.containers;
    assert.deepEqual(others, []);
    assert.deepEqual([first?.pod, first?.container], ['runner-1', 'runner']);
    assert.ok((first?.memoryBytes ?? 0) > 0 && first?.cpuSeconds !== undefined && (first?.startedAt ?? 0) > 0);
    assert.ok((usage.node.cpuSeconds ?? 0) > 0 && (usage.node.memoryBytes ?? 0) > 0);
    if (stage.view?.running) stage.view = { ...stage.view, running: { ...stage.view.running, pid: 2 ** 22 - 1 } };
    const [unknown] = (await stage.runtime.usage()).containers;
    assert.equal(unknown?.cpuSeconds, undefined);
    const views = { all: () => [...stage.runtime.pods()], find: () => stage.view };
    const silent = await readUsage(views, async () => Promise.reject(new Error('no ps')), systemClock);
    assert.deepEqual([silent.containers.length, silent.containers[0]?.memoryBytes], [1, undefined]);
    off();
    assert.deepEqual((await stage.runtime.usage()).containers, []);
    assert.deepEqual(
      stage.runtime.pods().map(({ metadata }) => metadata?.name),
      ['runner-1'],
    );
  });
});
