import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:https';
import { after, before, describe, test } from 'node:test';
import { eventually } from '@tartan/kube/testing';
import { createKubernetes } from '@tartan/sim-kubernetes';
import { type ApiHarness, createApiHarness, ended } from './testing/api-harness.ts';

describe('the kubelet API', { timeout: 60_000 }, () => {
  let harness: ApiHarness;
  before(async () => {
    harness = await createApiHarness();
  });
  after(() => harness?.close());

  describe('authenticates callers', () => {
    test('by client certificate or token, and rejects everybody else', async () => {
      assert.equal((await harness.request('/healthz')).code, 200);
      assert.equal((await harness.request('/healthz', { headers: { authorization: 'Bearer good' } })).code, 200);
      assert.equal((await harness.request('/healthz', {})).code, 401);
      assert.equal((await harness.request('/healthz', { headers: { authorization: 'Bearer bad' } })).code, 401);
      assert.equal((await harness.request('/healthz', { headers: { authorization: 'Basic Z29vZA==' } })).code, 401);
      assert.equal((await harness.request('/healthz', await harness.issue('mallory'))).code, 403);
    });

    test('and rejects certificates of another CA and server certificates', async () => {
      const other = await createKubernetes();
      try {
        assert.equal((await harness.request('/healthz', await harness.issue('admin', { from: other }))).code, 401);
      } finally {
        other.stop();
      }
      assert.equal(
        (await harness.request('/healthz', await harness.issue('admin', { usage: 'server auth' }))).code,
        401,
      );
    });

    test('before it upgrades a connection', async () => {
      const socket = await harness.dialTLS({});
      socket.write(
        'GET /exec/default/vm/vm?command=true&output=1 HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n',
      );
      const [chunk] = await once(socket, 'data');
      assert.match(String(chunk), /^HTTP\/1.1 401 Unauthorized\r\n/);
      await ended(socket);
      assert.deepEqual(harness.served.runtime.commands, []);
    });
  });

  test('serves plain HTTP requests', async () => {
    const { body, type } = await harness.request('/pods');
    assert.equal(type, 'application/json');
    assert.equal(JSON.parse(body).kind, 'PodList');
    assert.equal(JSON.parse(body).items.length, 1);
    assert.deepEqual(await harness.request('/metrics'), {
      code: 200,
      body: 'tart_up 1\n',
      type: 'text/plain; version=0.0.4',
    });
    assert.match(
      (await harness.request('/metrics/resource')).body,
      /^container_cpu_usage_seconds_total\{.*\} 1\.5 1000$/m,
    );
    for (const path of ['/metrics/cadvisor', '/metrics/probes'])
      assert.deepEqual(await harness.request(path), {
        code: 200,
        body: '',
        type: 'text/plain; version=0.0.4; charset=utf-8',
      });
    assert.equal((await harness.request('/nothing')).code, 404);
    assert.equal((await harness.request('/exec/default/vm/vm?command=true&output=1')).code, 400);
    assert.equal((await harness.request('/healthz', { ...harness.admin, method: 'POST' })).code, 405);
    assert.equal((await harness.request('/containerLogs/default/other/vm')).code, 404);
    const head = await harness.request('/pods', { ...harness.admin, method: 'HEAD' });
    assert.deepEqual([head.code, head.body], [200, '']);
  });

  test('reports no internal details when a request fails', async () => {
    const sick = await harness.open({});
    try {
      sick.runtime.usage = async () => {
        throw new Error('secret detail');
      };
      const { code, body } = await harness.request('/metrics/resource', harness.admin, sick);
      assert.equal(code, 500);
      assert.doesNotMatch(body, /secret/);
    } finally {
      await sick.close();
    }
  });

  test('uses a new certificate for the next connection', async () => {
    const before = await harness.dialTLS();
    const { cert, key } = await harness.issue('renewed', { usage: 'server auth' });
    harness.served.api.setKeyPair({ cert, key });
    const next = await harness.dialTLS();
    assert.equal(next.getPeerCertificate().subject.CN, 'renewed');
    for (const socket of [before, next]) {
      socket.write('GET /healthz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
      assert.match(String((await once(socket, 'data'))[0]), /^HTTP\/1.1 200/, 'and still asks for certificates');
      socket.destroy();
    }
  });

  describe('logs', () => {
    test('are followed line by line until the client disconnects', async () => {
      const own = await harness.open();
      try {
        await own.runtime.log.write('stdout', Buffer.from('one\n'));
        const outgoing = request({
          host: '127.0.0.1',
          port: own.port,
          path: '/containerLogs/default/vm/vm?follow=true',
          rejectUnauthorized: false,
          agent: false,
          ...harness.admin,
        });
        outgoing.end();
        outgoing.on('error', () => {});
        const [response] = await once(outgoing, 'response');
        assert.equal(String((await once(response, 'data'))[0]), 'one\n');
        await own.runtime.log.write('stdout', Buffer.from('two\n'));
        assert.equal(String((await once(response, 'data'))[0]), 'two\n');
        outgoing.destroy();
      } finally {
        await own.close();
      }
    });

    test('are refused with a message', async () => {
      const { code, body } = await harness.request('/containerLogs/default/vm/vm?previous=true');
      assert.equal(code, 400);
      assert.match(body, /previous terminated container/);
    });
  });

  test('ends open sessions when it stops', async () => {
    const own = await harness.open();
    const socket = harness.openWebSocket(
      '/exec/default/vm/vm?command=sleep&command=1000&output=1',
      'v5.channel.k8s.io',
      own,
    );
    await once(socket, 'open');
    socket.on('error', () => {});
    await eventually('the command runs', () => own.runtime.running.size === 1);
    await own.close();
    await eventually('the command has ended', () => own.runtime.running.size === 0);
  });

  test('reports why it cannot listen', async () => {
    const { cert, key } = await harness.issue('server', { usage: 'server auth' });
    await assert.rejects(harness.open({}, { port: harness.served.port, keyPair: { cert, key } }), /cannot listen on/);
  });
});
