import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTCP } from 'node:net';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { type ApiHarness, createApiHarness, ended } from './testing/api-harness.ts';

describe('the kubelet API', { timeout: 60_000 }, () => {
  let harness: ApiHarness;
  before(async () => {
    harness = await createApiHarness();
  });
  after(() => harness?.close());

  describe('enforces limits', () => {
    test('on clients that send nothing, during the handshake and after it', async () => {
      const impatient = await harness.open({ openingMs: 1_000, keepAliveMs: 1_000 });
      try {
        const silent = connectTCP(impatient.port, '127.0.0.1');
        silent.on('error', () => {});
        const slow = await harness.dialTLS(harness.admin, impatient);
        slow.write('GET /healthz HTTP/1.1\r\nHost: ');
        const body = await harness.dialTLS(harness.admin, impatient);
        body.write('POST /exec/a/b/c HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\nx');
        await Promise.all([silent, slow, body].map(ended));
      } finally {
        await impatient.close();
      }
    });

    test('on connections, sessions and headers', async () => {
      const small = await harness.open({ connections: 2, sessions: 1, headerBytes: 2000, openingMs: 600_000 });
      try {
        const first = harness.openWebSocket(
          '/exec/default/vm/vm?command=cat&input=1&output=1',
          'v5.channel.k8s.io',
          small,
        );
        await once(first, 'open');
        first.on('error', () => {});
        const second = harness.openWebSocket(
          '/exec/default/vm/vm?command=cat&input=1&output=1',
          'v5.channel.k8s.io',
          small,
        );
        assert.match(String((await once(second, 'error'))[0]), /503/);
        assert.equal(
          (await harness.request('/healthz', { ...harness.admin, headers: { x: 'y'.repeat(3000) } }, small)).code,
          431,
        );
        const idle = await harness.dialTLS(harness.admin, small);
        const third = connectTCP(small.port, '127.0.0.1');
        third.on('error', () => {});
        await ended(third);
        idle.destroy();
        first.terminate();
        await eventually('the command has ended', () => small.runtime.running.size === 0);
      } finally {
        await small.close();
      }
    });

    test('on idle connections and sessions', async () => {
      const quiet = await harness.open({ idleMs: 1_000 });
      try {
        const socket = harness.openWebSocket('/attach/default/vm/vm?output=1', 'v5.channel.k8s.io', quiet);
        await once(socket, 'open');
        socket.on('error', () => {});
        await once(socket, 'close');
        await eventually('it is detached', () => quiet.runtime.detached === 1);
        const spdy = await harness.openSpdy('/portForward/default/vm', 'portforward.k8s.io', quiet);
        await ended(spdy);
      } finally {
        await quiet.close();
      }
    });

    test('on protocols that it does not support', async () => {
      const plain = connectTCP(harness.served.port, '127.0.0.1');
      plain.on('error', () => {});
      plain.write('GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n');
      await ended(plain);
      const upgrade = await harness.request('/healthz', {
        ...harness.admin,
        headers: { connection: 'Upgrade', upgrade: 'h2c' },
      });
      assert.equal(upgrade.code, 400);
      const connectMethod = await harness.dialTLS();
      connectMethod.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
      await ended(connectMethod);
    });
  });
});
