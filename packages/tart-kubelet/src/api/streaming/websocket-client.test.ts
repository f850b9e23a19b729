import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { systemClock } from '@tartan/kube/clock';
import { eventually } from '@tartan/kube/testing';
import type { WebSocket } from 'ws';
import { type ApiHarness, command, createApiHarness } from '../testing/api-harness.ts';

const messagesOf = async (socket: WebSocket): Promise<{ code: number; status: unknown; out: string; err: string }> => {
  const parts = new Map<number, string>();
  socket.on('message', (data: Buffer) =>
    parts.set(data[0] ?? -1, `${parts.get(data[0] ?? -1) ?? ''}${data.subarray(1).toString()}`),
  );
  const [code] = await once(socket, 'close');
  return { code, status: JSON.parse(parts.get(3) ?? 'null'), out: parts.get(1) ?? '', err: parts.get(2) ?? '' };
};

describe('the kubelet API over WebSocket', { timeout: 60_000 }, () => {
  let harness: ApiHarness;
  before(async () => {
    harness = await createApiHarness();
  });
  after(() => harness?.close());

  describe('exec over WebSocket', () => {
    test('ends with the status, then with code 1000', async () => {
      const socket = harness.openWebSocket(
        `/exec/default/vm/vm?${command}echo out; echo err >%262; exit 3&output=1&error=1`,
      );
      const { code, status, out, err } = await messagesOf(socket);
      assert.equal(code, 1000);
      assert.deepEqual([out, err], ['out\n', 'err\n']);
      assert.equal((status as { reason: string }).reason, 'NonZeroExitCode');
    });

    test('passes the end of stdin on in v5; v4 has none', async () => {
      for (const [protocol, expected] of [
        ['v5.channel.k8s.io', 'hello'],
        ['v4.channel.k8s.io', 'hello, still open'],
      ] as const) {
        const socket = harness.openWebSocket('/exec/default/vm/vm?command=cat&input=1&output=1', protocol);
        const closed = messagesOf(socket);
        let received = '';
        socket.on('message', (data: Buffer) => (received += data.toString()));
        await once(socket, 'open');
        socket.send(Buffer.from('\0hello'));
        socket.send(Buffer.from([255, 0]));
        if (expected === 'hello, still open') {
          socket.send(Buffer.from('\0, still open'));
          await eventually('all comes back', () => received.includes('still open'));
          socket.terminate();
          await eventually('the command has ended', () => harness.served.runtime.running.size === 0);
        }
        assert.equal((await closed).out, expected);
      }
    });

    test('passes resizes on, even early ones', async () => {
      const socket = harness.openWebSocket(`/exec/default/vm/vm?${command}read x&input=1&output=1&tty=1`);
      const closed = messagesOf(socket);
      await once(socket, 'open');
      socket.send(Buffer.from('\x04{"Width":90,"Height":30}\n'));
      socket.send(Buffer.from('\x04{"Width":0,"Height":0}\n'));
      socket.send(Buffer.from('\x04rubbish'));
      socket.send(Buffer.from('\0go\n'));
      assert.equal((await closed).out, 'size 90x30\n');
    });

    test('of an unknown container returns a failure status', async () => {
      const { status, code } = await messagesOf(harness.openWebSocket('/exec/default/other/vm?command=true&output=1'));
      assert.match((status as { message: string }).message, /default\/other has no container/);
      assert.equal(code, 1000);
    });

    test('kills the command when the client disconnects', async () => {
      const socket = harness.openWebSocket('/exec/default/vm/vm?command=sleep&command=1000&output=1');
      await once(socket, 'open');
      await eventually('the command runs', () => harness.served.runtime.running.size === 1);
      socket.terminate();
      await eventually('the command has ended', () => harness.served.runtime.running.size === 0);
    });

    test('with an unknown subprotocol is refused before the command runs', async () => {
      const count = harness.served.runtime.commands.length;
      const socket = harness.openWebSocket('/exec/default/vm/vm?command=true&output=1', 'v1.unknown');
      const [error] = await once(socket, 'error');
      assert.match(String(error), /400/);
      assert.equal(harness.served.runtime.commands.length, count);
    });

    test('rejects messages above the size limit', async () => {
      const small = await harness.open({ messageBytes: 1000 });
      try {
        const socket = harness.openWebSocket(
          '/exec/default/vm/vm?command=cat&input=1&output=1',
          'v5.channel.k8s.io',
          small,
        );
        await once(socket, 'open');
        await eventually('the command runs', () => small.runtime.running.size === 1);
        socket.on('error', () => {});
        socket.send(Buffer.alloc(2000));
        const [code] = await once(socket, 'close');
        assert.equal(code, 1009);
        await eventually('the command has ended', () => small.runtime.running.size === 0);
      } finally {
        await small.close();
      }
    });

    test('ignores malformed messages', async () => {
      const socket = harness.openWebSocket(`/exec/default/vm/vm?${command}read x; echo $x&input=1&output=1`);
      const closed = messagesOf(socket);
      await once(socket, 'open');
      for (const bytes of [[], [9, 1], [3, 1], [255], [255, 9], [4]]) socket.send(Buffer.from(bytes));
      socket.send(Buffer.from('\0fine\n'));
      assert.equal((await closed).out, 'fine\n');
    });
  });

  describe('attach', () => {
    test('detaches, and applies backpressure when the main process does not read', async () => {
      // Pings at once instead of after seconds.
      const clock = {
        ...systemClock,
        after: (ms: number, call: () => void) => systemClock.after(Math.min(ms, 20), call),
      };
      const own = await harness.open({}, { clock });
      try {
        own.runtime.stalled = true;
        const socket = harness.openWebSocket('/attach/default/vm/vm?input=1&output=1', 'v5.channel.k8s.io', own);
        await once(socket, 'open');
        socket.on('error', () => {});
        const message = Buffer.alloc(32 * 1024);
        let sent = 0;
        const flood = async (): Promise<void> => {
          for (; sent < 2000; sent += 1) await new Promise((resolve) => socket.send(message, resolve));
        };
        void flood();
        let last = 0;
        let still = 0;
        await eventually('nothing more is taken', () => {
          still = sent > 0 && sent === last ? still + 1 : 0;
          last = sent;
          return still > 40;
        });
        assert.ok(sent < 2000, 'the client had to wait');
        socket.terminate();
        await eventually('it is detached', () => own.runtime.detached === 1);
      } finally {
        await own.close();
      }
    });
  });
});
