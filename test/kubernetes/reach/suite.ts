import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { createProcessTable } from '@tartan/tart';
import type { ReachCluster } from './clusters.ts';
import { type ReachHarness, startReachHarness } from './harness.ts';
import { textUntil } from './kubectl.ts';

/** What users do with kubectl to a Pod that is a virtual machine. In this order: the last tests end it. */
export const runReachSuite = (
  title: string,
  start: () => Promise<ReachCluster>,
  env: Readonly<Record<string, string>> = {},
): void => {
  describe(title, () => {
    let cluster: ReachCluster | undefined;
    let harness: ReachHarness;
    before(async () => {
      cluster = await start();
      harness = await startReachHarness(cluster, env);
    });
    after(async () => {
      await harness?.close();
      await cluster?.close();
    });

    const write = async (line: string): Promise<void> =>
      (await harness.runtime.log()).write('stdout', Buffer.from(`${line}\n`));
    const kubectl = (...args: string[]) => harness.kubectl.run(args);

    test('exec runs a command in the guest and returns output and exit code', async () => {
      const done = await kubectl('exec', 'vm', '--', 'sh', '-c', 'echo out; echo err >&2; exit 3');
      assert.equal(done.code, 3, done.stderr);
      assert.equal(done.stdout, 'out\n');
      assert.match(done.stderr, /^err\n[^]*exit code 3/);
      assert.equal((await kubectl('exec', 'vm', '--', 'true')).code, 0);
      assert.notEqual((await kubectl('exec', 'vm', '--', '/nothing/here')).code, 0);
    });

    test('exec -i passes input to its end, and ends although its input is still open', async () => {
      const done = await harness.kubectl.run(['exec', '-i', 'vm', '--', 'cat'], 'hello');
      assert.deepEqual(done, { code: 0, stdout: 'hello', stderr: '' });
      const [code] = await once(harness.kubectl.start(['exec', '-i', 'vm', '--', 'true']), 'exit');
      assert.equal(code, 0);
    });

    test('exec -it has a terminal of the same size', async () => {
      const command =
        'until test "$(stty size)" = "30 90"; do sleep 0.05; done; echo sized; read line; echo "got $line"';
      const size = { rows: 30, columns: 90 };
      const terminal = harness.kubectl.startInTerminal(size, ['exec', '-it', 'vm', '--', 'sh', '-c', command]);
      await textUntil(terminal.stdout, /sized/);
      terminal.stdin.write('something\r');
      await textUntil(terminal.stdout, /got something/);
      assert.deepEqual(await once(terminal, 'exit'), [0, null]);
    });

    test('a killed kubectl ends the command', async () => {
      const child = harness.kubectl.start(['exec', 'vm', '--', 'sh', '-c', 'echo $$; exec sleep 1000']);
      const pid = Number(await textUntil(child.stdout, /^\d+\n/));
      const processes = createProcessTable(process.env);
      assert.ok(await processes.find(pid));
      child.kill('SIGKILL');
      await eventually('the command has ended', async () => (await processes.find(pid)) === undefined);
    });

    test('cp copies a file there and back', async () => {
      const bytes = randomBytes(3 * 1024 * 1024);
      const [from, back] = [join(harness.runtime.folder, 'from'), join(harness.runtime.folder, 'back')];
      writeFileSync(from, bytes);
      const sent = await kubectl('cp', from, 'vm:there');
      assert.equal(sent.code, 0, sent.stderr);
      const fetched = await kubectl('cp', 'vm:there', back);
      assert.equal(fetched.code, 0, fetched.stderr);
      assert.ok(readFileSync(back).equals(bytes));
    });

    test('logs returns the output, with tail and since options', async () => {
      for (const line of ['one', 'two', 'three']) await write(line);
      assert.equal((await kubectl('logs', 'vm')).stdout, 'one\ntwo\nthree\n');
      assert.equal((await kubectl('logs', 'vm', '--tail=2')).stdout, 'two\nthree\n');
      assert.equal((await kubectl('logs', 'vm', '--limit-bytes=5')).stdout, 'one\nt');
      assert.equal((await kubectl('logs', 'vm', '--since=1h')).stdout, 'one\ntwo\nthree\n');
      assert.match((await kubectl('logs', 'vm', '--timestamps', '--tail=1')).stdout, /^\d{4}-.*\.\d+Z three\n$/);
    });

    test('attach shows new output, takes no input, and detaching ends nothing', async () => {
      const child = harness.kubectl.start(['attach', 'vm']);
      const isShown = new AbortController();
      const shown = textUntil(child.stdout, /new\n/).finally(() => isShown.abort());
      await eventually('it is shown', async () => {
        await write('new');
        return isShown.signal.aborted;
      });
      assert.match(await shown, /^(new\n)+$/);
      child.kill('SIGKILL');
      const refused = await harness.kubectl.run(['attach', '-i', 'vm'], 'hello');
      assert.equal(refused.code, 1);
      assert.match(refused.stderr, /no console to attach to[^]*kubectl exec -it vm/);
      assert.equal((await kubectl('exec', 'vm', '--', 'true')).code, 0);
    });

    test('port-forward reaches the guest, and reports an unreachable port', async () => {
      const target = createServer({ allowHalfOpen: true }, (socket) => {
        socket.on('error', () => {});
        socket.on('data', (chunk) => socket.write(chunk)).on('end', () => socket.end('bye'));
      }).listen(0, '127.0.0.1');
      await once(target, 'listening');
      try {
        const { port } = target.address() as { port: number };
        const child = harness.kubectl.start(['port-forward', 'pod/vm', `:${port}`, ':1']);
        const text = await textUntil(child.stdout, /127\.0\.0\.1:\d+ -> 1\n/);
        const [, open = ''] = new RegExp(`127.0.0.1:(\\d+) -> ${port}\n`).exec(text) ?? [];
        const [, closed = ''] = /127.0.0.1:(\d+) -> 1\n/.exec(text) ?? [];
        const echo = async (words: string): Promise<string> => {
          const socket = connect(Number(open), '127.0.0.1');
          socket.end(words);
          let answer = '';
          for await (const chunk of socket) answer += String(chunk);
          return answer;
        };
        const words = ['first', 'x'.repeat(1_000_000)];
        assert.deepEqual(
          await Promise.all(words.map(echo)),
          words.map((each) => `${each}bye`),
        );
        const lost = connect(Number(closed), '127.0.0.1').on('error', () => {});
        lost.write('hello');
        await textUntil(child.stderr, /connection refused/);
        lost.destroy();
        child.kill('SIGKILL');
      } finally {
        target.close();
      }
    });

    test('the error names an image without the guest agent', async () => {
      harness.runtime.fake.controls.guest('_', { agent: 'absent' });
      const done = await kubectl('exec', 'vm', '--', 'true');
      harness.runtime.fake.controls.guest('_', { agent: undefined });
      assert.equal(done.code, 1);
      assert.match(done.stderr, /install tart-guest-agent in the image/);
    });

    test('logs -f ends with the run, and logs --previous returns it afterwards', async () => {
      const none = await kubectl('logs', 'vm', '--previous');
      assert.equal(none.code, 1);
      assert.match(none.stderr, /previous terminated container "vm" in pod "vm" not found/);
      const child = harness.kubectl.start(['logs', '-f', 'vm', '--tail=1']);
      const exited = once(child, 'exit');
      await textUntil(child.stdout, /new\n/);
      await write('last words');
      await textUntil(child.stdout, /last words\n/);
      await harness.runtime.restart();
      assert.deepEqual(await exited, [0, null]);
      await write('again');
      assert.equal((await kubectl('logs', 'vm')).stdout, 'again\n');
      assert.equal((await kubectl('logs', 'vm', '--previous', '--tail=1')).stdout, 'last words\n');
    });

    test('exec is refused for a stopped VM, but its log is readable', async () => {
      if (harness.runtime.view) harness.runtime.view = { ...harness.runtime.view, running: undefined };
      const done = await kubectl('exec', 'vm', '--', 'true');
      assert.equal(done.code, 1);
      assert.match(done.stderr, /the virtual machine of pod "vm" is not running/);
      assert.equal((await kubectl('logs', 'vm')).stdout, 'again\n');
    });
  });
};
