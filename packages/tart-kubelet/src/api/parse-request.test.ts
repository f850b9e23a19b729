import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { HttpError } from './http-response.ts';
import { parseAttachQuery, parseExecQuery, parseLogQuery, parseRequest } from './parse-request.ts';
import { formatResourceMetrics } from './resource-metrics.ts';
import { formatStatus, parseTerminalSize } from './streaming/remote-command.ts';

const now = Date.parse('2026-01-01T00:00:00Z');
const codeOf = (run: () => unknown): number => {
  try {
    run();
  } catch (error) {
    if (error instanceof HttpError) return error.code;
    throw error;
  }
  return 200;
};

describe('the path of a request', () => {
  const container = { namespace: 'ns', pod: 'pod-1.x', container: 'vm' };
  test('selects the route', () => {
    const routeOf = (method: string, url: string) => parseRequest(method, url).route;
    assert.deepEqual(routeOf('GET', '/containerLogs/ns/pod-1.x/vm?follow=true'), { kind: 'containerLogs', container });
    assert.deepEqual(routeOf('POST', '/exec/ns/pod-1.x/vm'), { kind: 'exec', container });
    assert.deepEqual(routeOf('GET', '/attach/ns/pod-1.x/vm'), { kind: 'attach', container });
    assert.deepEqual(routeOf('GET', '/portForward/ns/p'), { kind: 'portForward', pod: { namespace: 'ns', pod: 'p' } });
    assert.deepEqual(routeOf('GET', '/metrics/resource'), { kind: 'resourceMetrics' });
    assert.equal(parseRequest('GET', '/exec/ns/p/vm?command=a?b').query.get('command'), 'a?b');
  });

  test('is rejected for an unknown path, an invalid name or a wrong method', () => {
    const codes: readonly (readonly [string, string, number])[] = [
      ['GET', '/', 404],
      ['GET', '/run/ns/pod/vm', 404],
      ['GET', '/constructor', 404],
      ['GET', '/exec/ns/pod', 404],
      ['GET', '/exec/ns/pod/vm/more', 404],
      ['GET', '/exec/../pod/vm', 400],
      ['GET', '/exec/ns/%2e%2e/vm', 400],
      ['GET', '/containerLogs/ns/pod/', 400],
      ['POST', '/containerLogs/ns/pod/vm', 405],
      ['DELETE', '/pods', 405],
      ['PUT', '/exec/ns/pod/vm', 405],
    ];
    for (const [method, url, code] of codes)
      assert.equal(
        codeOf(() => parseRequest(method, url)),
        code,
        url,
      );
  });

  test('always results in a route or an HTTP error', () => {
    const part = fc.oneof(fc.constantFrom('exec', 'containerLogs', 'portForward', 'a', '..', ''), fc.string());
    fc.assert(
      fc.property(fc.constantFrom('GET', 'POST', 'X'), fc.array(part), (method, parts) => {
        assert.ok([200, 400, 404, 405].includes(codeOf(() => parseRequest(method, `/${parts.join('/')}`))));
      }),
    );
  });
});

describe('the query of a request', () => {
  test('is parsed for logs', () => {
    const query = new URLSearchParams('follow=true&tailLines=5&limitBytes=9&sinceSeconds=60&timestamps=true');
    assert.deepEqual(parseLogQuery(query, now), {
      follow: true,
      previous: false,
      timestamps: true,
      tailLines: 5,
      limitBytes: 9,
      since: '2025-12-31T23:59:00.000000000Z',
    });
    const since = (text: string) => parseLogQuery(new URLSearchParams({ sinceTime: text }), now).since;
    assert.equal(since('2025-12-31T23:00:00+01:00'), '2025-12-31T22:00:00.000000000Z');
    for (const bad of [
      'tailLines=-1',
      'tailLines=x',
      'limitBytes=0',
      'sinceSeconds=0',
      'sinceTime=yesterday',
      'follow=2',
    ]) {
      assert.equal(
        codeOf(() => parseLogQuery(new URLSearchParams(bad), now)),
        400,
        bad,
      );
    }
    assert.equal(
      codeOf(() => parseLogQuery(new URLSearchParams('sinceSeconds=1&sinceTime=2025-12-31T23:00:00Z'), now)),
      400,
    );
  });

  test('is parsed for exec and attach', () => {
    assert.deepEqual(parseExecQuery(new URLSearchParams('command=a&command=&input=1&output=1&error=1&tty=1')), {
      command: ['a', ''],
      stdin: true,
      stdout: true,
      stderr: false,
      tty: true,
    });
    for (const bad of ['output=1', 'command=&output=1', 'command=a', 'command=a%00b&output=1']) {
      assert.equal(
        codeOf(() => parseExecQuery(new URLSearchParams(bad))),
        400,
        bad,
      );
    }
    assert.equal(
      codeOf(() => parseAttachQuery(new URLSearchParams('tty=1&error=1'))),
      400,
    );
  });

  test('is always parsed or rejected', () => {
    const name = fc.constantFrom('follow', 'tailLines', 'sinceTime', 'sinceSeconds', 'command', 'input', 'tty');
    const value = fc.oneof(fc.string(), fc.constantFrom('1', 'true', '99999999999999', '9999-12-31T23:59:59-23:59'));
    fc.assert(
      fc.property(fc.array(fc.tuple(name, value)), (pairs) => {
        const query = new URLSearchParams(pairs);
        for (const parse of [parseExecQuery, (each: URLSearchParams) => parseLogQuery(each, now)]) {
          assert.ok([200, 400].includes(codeOf(() => parse(query))));
        }
      }),
    );
  });
});

describe('the formats of kubectl', () => {
  test('a valid terminal size', () => {
    assert.deepEqual(parseTerminalSize('{"Width":90,"Height":30}\n'), { columns: 90, rows: 30 });
    for (const bad of [
      '',
      '{}',
      '{"Width":0,"Height":30}',
      '{"Width":-1,"Height":3}',
      '{"Width":1e9,"Height":3}',
      '[',
      'null',
    ]) {
      assert.equal(parseTerminalSize(bad), undefined, bad);
    }
    fc.assert(fc.property(fc.string(), (text) => void parseTerminalSize(text)));
  });

  test('the exit status of a command', () => {
    assert.equal(formatStatus({ kind: 'exited', code: 0 }), '{"metadata":{},"status":"Success"}');
    assert.deepEqual(JSON.parse(formatStatus({ kind: 'exited', code: 3 })).details.causes, [
      { reason: 'ExitCode', message: '3' },
    ]);
    assert.equal(JSON.parse(formatStatus({ kind: 'failed', message: 'no' })).code, 500);
  });

  test('resource metrics with timestamps, without unknown values', () => {
    const name = { namespace: 'ns', pod: 'p"q', container: 'vm' };
    const text = formatResourceMetrics({
      node: { at: 1000.4, cpuSeconds: 1.5 },
      containers: [{ ...name, at: 2000, memoryBytes: 7, startedAt: 5000 }],
    });
    const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    assert.deepEqual(lines, [
      'node_cpu_usage_seconds_total 1.5 1000',
      String.raw`container_memory_working_set_bytes{container="vm",namespace="ns",pod="p\"q"} 7 2000`,
      String.raw`container_start_time_seconds{container="vm",namespace="ns",pod="p\"q"} 5 2000`,
    ]);
  });
});
