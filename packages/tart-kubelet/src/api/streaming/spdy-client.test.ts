import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { formatData } from '../spdy/frames.ts';
import { type ApiHarness, command, createApiHarness, ended } from '../testing/api-harness.ts';
import { createSpdyPeer } from '../testing/spdy-peer.ts';

describe('the kubelet API over SPDY', { timeout: 60_000 }, () => {
  let harness: ApiHarness;
  before(async () => {
    harness = await createApiHarness();
  });
  after(() => harness?.close());

  describe('exec over SPDY', () => {
    test('runs the command and returns its exit status', async () => {
      const socket = await harness.openSpdy(
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

    test('kills the command when the client disconnects', async () => {
      const socket = await harness.openSpdy(
        '/exec/default/vm/vm?command=sleep&command=1000&output=1',
        'v4.channel.k8s.io',
      );
      const peer = createSpdyPeer(socket);
      await peer.open({ streamtype: 'error' });
      await peer.open({ streamtype: 'stdout' });
      await eventually('the command runs', () => harness.served.runtime.running.size === 1);
      socket.destroy();
      await eventually('the command has ended', () => harness.served.runtime.running.size === 0);
    });

    test('runs nothing for an unknown protocol', async () => {
      const count = harness.served.runtime.commands.length;
      await assert.rejects(harness.openSpdy('/exec/default/vm/vm?command=true&output=1', 'v1'), /400/);
      const socket = await harness.openSpdy('/exec/default/vm/vm?command=true&output=1', 'v4.channel.k8s.io');
      socket.write('GET / HTTP/1.1\r\nHost: hello\r\n\r\n'.repeat(100));
      socket.end();
      await ended(socket);
      const other = await harness.openSpdy('/exec/default/vm/vm?command=true&output=1', 'v4.channel.k8s.io');
      other.write(Buffer.from('8002000100000000', 'hex'));
      await ended(other);
      assert.equal(harness.served.runtime.commands.length, count);
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

    test('pairs streams, keeps half-open connections, and reports unreachable ports', async () => {
      const { port } = target.address() as { port: number };
      const socket = await harness.openSpdy('/portForward/default/vm', 'portforward.k8s.io');
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
});
