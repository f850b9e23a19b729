import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { allowAll, type Authorizer } from '../authorization/authorizer.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ApiResponse } from '../http-messages.ts';
import type { ActionRequest } from '../resource.ts';
import { type FakeApi, fakeApi } from '../store/testing/fake-api.ts';
import { type Connect, dialError } from './kubelet-client.ts';
import { originOf } from './pod-location.ts';
import { kubeletError } from './pod-log.ts';
import { kubeletActions } from './pod-streams.ts';

const container = (name: string): object => ({ name, image: 'x' });
const upgrade = { connection: 'keep-alive, Upgrade', upgrade: 'websocket' };

const fakeCluster = (authorize: Authorizer = allowAll): FakeApi => {
  const api = fakeApi(authorize);
  const pod = (name: string, spec: object): unknown =>
    api.put('pods', { metadata: { name, namespace: 'default' }, spec });
  pod('unscheduled', { containers: [container('c')] });
  pod('two', { nodeName: 'mac', initContainers: [container('i')], containers: [container('a'), container('b')] });
  pod('one', { nodeName: 'mac', containers: [container('a')] });
  pod('lost', { nodeName: 'gone', containers: [container('a')] });
  pod('silent', { nodeName: 'no-address', containers: [container('a')] });
  api.put('nodes', {
    metadata: { name: 'mac' },
    status: {
      addresses: [{ type: 'InternalIP', address: '10.0.0.7' }],
      daemonEndpoints: { kubeletEndpoint: { Port: 10443 } },
    },
  });
  api.put('nodes', { metadata: { name: 'no-address' }, status: { addresses: [{ type: 'Odd', address: 'x' }] } });
  return api;
};

const silent: Connect = () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }));

type ActionName = 'log' | 'exec' | 'attach' | 'portforward';

const call = async (
  action: ActionName,
  pod: string,
  query = '',
  {
    api = fakeCluster(),
    connect = silent,
    ...rest
  }: Partial<ActionRequest> & { api?: FakeApi; connect?: Connect } = {},
): Promise<ApiResponse> =>
  kubeletActions({ connect })[action]({
    verb: 'get',
    name: pod,
    namespace: 'default',
    rest: '',
    query: new URLSearchParams(query),
    headers: {},
    signal: new AbortController().signal,
    body: undefined,
    context: { api, user: { name: 'u', groups: [] }, dryRun: false },
    ...rest,
  });

const answering = (code: number, ...chunks: string[]): Connect & { urls: string[] } =>
  Object.assign(
    async (url: string) => {
      urls.push(url);
      return {
        code,
        chunks: (async function* () {
          for (const chunk of chunks) yield Buffer.from(chunk);
        })(),
      };
    },
    { urls: [] as string[] },
  );
const urls: string[] = [];

describe('the log of a Pod', () => {
  before(() => void urls.splice(0));

  it('streams the response of the kubelet, requested with the given options only', async () => {
    const query =
      'follow=true&tailLines=5&timestamps=false&previous=0&limitBytes=10&sinceTime=2026-01-01T00:00:00.5Z&pretty=true';
    const answer = await call('log', 'one', query, { connect: answering(200, 'a', 'b') });
    assert.ok(answer.kind === 'stream');
    assert.deepEqual(answer.headers, { 'content-type': 'text/plain' });
    const seen: string[] = [];
    for await (const chunk of answer.chunks) seen.push(String(chunk));
    assert.deepEqual(seen, ['a', 'b']);
    assert.deepEqual(urls, [
      'https://10.0.0.7:10443/containerLogs/default/one/a?follow=true&limitBytes=10&sinceTime=2026-01-01T00%3A00%3A00Z&tailLines=5',
    ]);
  });

  it('is empty while no node runs the Pod', async () => {
    assert.deepEqual(await call('log', 'unscheduled'), { kind: 'answer', code: 204, headers: {}, body: '' });
  });

  for (const [pod, query, code, message] of [
    ['nope', '', 404, 'pods "nope" not found'],
    ['two', '', 400, 'a container name must be specified for pod two, choose one of: [i a b]'],
    ['two', 'container=zz', 400, 'container zz is not valid for pod two'],
    ['lost', '', 404, 'pods "gone" not found'],
    ['silent', '', 500, 'no preferred addresses found; known addresses: [{Odd x}]'],
    ['one', 'tailLines=abc', 400, 'strconv.ParseInt: parsing "abc": invalid syntax'],
    [
      'one',
      'tailLines=99999999999999999999',
      400,
      'strconv.ParseInt: parsing "99999999999999999999": value out of range',
    ],
    ['one', 'sinceTime=abc', 400, 'parsing time "abc" as "2006-01-02T15:04:05Z07:00": cannot parse "abc" as "2006"'],
    [
      'one',
      'tailLines=-1&sinceSeconds=0&limitBytes=0',
      422,
      'PodLogOptions "one" is invalid: [tailLines: Invalid value: -1: must be greater than or equal to 0, limitBytes: Invalid value: 0: must be greater than 0, sinceSeconds: Invalid value: 0: must be greater than 0]',
    ],
    [
      'one',
      'sinceSeconds=5&sinceTime=2020-01-01T00:00:00Z',
      422,
      'PodLogOptions "one" is invalid: []: Forbidden: at most one of `sinceTime` or `sinceSeconds` may be specified',
    ],
    [
      'one',
      '',
      500,
      'Get "https://10.0.0.7:10443/containerLogs/default/one/a": dial tcp 10.0.0.7:10443: connect: connection refused',
    ],
  ] as const) {
    it(`of ${pod}?${query} is refused with ${code}`, async () => {
      await assert.rejects(call('log', pod, query), { code, message });
    });
  }

  for (const [code, body, expected] of [
    [
      400,
      'container "a" in pod "one" is waiting to start: ContainerCreating',
      'container "a" in pod "one" is waiting to start: ContainerCreating',
    ],
    [500, 'oops', 'Internal error occurred: oops'],
    [403, 'no', 'no ( pods/log one)'],
    [404, 'whatever', 'the server could not find the requested resource ( pods/log one)'],
    [503, 'whatever', 'the server is currently unable to handle the request ( pods/log one)'],
    [502, 'bad', 'an error on the server ("bad") has prevented the request from succeeding ( pods/log one)'],
    [418, 'tea', 'the server responded with the status code 418 but did not return more information ( pods/log one)'],
  ] as const) {
    it(`forwards a ${code} of the kubelet`, async () => {
      const error = await call('log', 'one', '', { connect: answering(code, body) }).catch((reason: unknown) => reason);
      assert.ok(error instanceof ApiError);
      assert.deepEqual([error.code, error.message], [code, expected]);
      assert.deepEqual(kubeletError(code, body, 'one').status, error.status);
    });
  }

  it('does not follow a redirect of the kubelet', async () => {
    await assert.rejects(call('log', 'one', '', { connect: answering(302) }), /redirects forbidden/);
  });
});

describe('exec, attach and port-forward', () => {
  const urlOf = async (action: ActionName, pod: string, query: string): Promise<string> => {
    const answer = await call(action, pod, query, { headers: upgrade });
    assert.ok(answer.kind === 'upgrade');
    return answer.url;
  };

  for (const [action, query, expected] of [
    ['exec', 'command=ls&command=-l&stdout=true', '/exec/default/one/a?command=ls&command=-l&output=1'],
    [
      'exec',
      'command=sh&stdin=true&stdout=1&stderr=false&tty=true',
      '/exec/default/one/a?command=sh&input=1&output=1&tty=1',
    ],
    ['exec', 'command=a%26b=c%20d&stderr=true', '/exec/default/one/a?command=a%26b%3Dc+d&error=1'],
    ['attach', 'stdin=true&stdout=true&command=rm', '/attach/default/one/a?input=1&output=1'],
    ['portforward', '', '/portForward/default/one'],
    ['portforward', 'ports=80&ports=81', '/portForward/default/one?port=80%2C81'],
  ] as const) {
    it(`${action}?${query} leads to ${expected}`, async () => {
      assert.equal(await urlOf(action, 'one', query), `https://10.0.0.7:10443${expected}`);
    });
  }

  for (const [pod, query, message, code] of [
    ['unscheduled', '', 'pod unscheduled does not have a host assigned', 400],
    ['two', '', 'a container name must be specified for pod two, choose one of: [i a b]', 400],
    ['two', 'container=zz', 'container zz is not valid for pod two', 400],
    ['nope', '', 'pods "nope" not found', 404],
    ['silent', '', 'no preferred addresses found; known addresses: [{Odd x}]', 500],
  ] as const) {
    it(`exec in ${pod}?${query} is refused`, async () => {
      await assert.rejects(call('exec', pod, query, { headers: upgrade }), { message, code });
    });
  }

  it('need a protocol upgrade', async () => {
    await assert.rejects(call('exec', 'one', 'command=ls'), { message: 'Upgrade request required', code: 400 });
  });

  it('need the verb create, also with GET', async () => {
    const authorize: Authorizer = ({ verb, resource, subresource }) => ({
      allowed: `${verb} ${resource}/${subresource}` !== 'create pods/exec',
      reason: 'because',
    });
    const options = { headers: upgrade, api: fakeCluster(authorize) };
    await assert.rejects(call('exec', 'one', '', options), { message: 'pods "one" is forbidden: because', code: 403 });
    assert.ok(await call('attach', 'one', '', options));
    assert.ok(await call('exec', 'one', '', { ...options, verb: 'create' }));
  });
});

describe('the address of a kubelet', () => {
  const address = (type: string, value: string): object => ({ type, address: value });
  const [internal, external, host] = [
    address('InternalIP', '10.0.0.1'),
    address('ExternalIP', '1.2.3.4'),
    address('Hostname', 'mac'),
  ];
  for (const [addresses, expected] of [
    [[host, external, internal], 'https://10.0.0.1:10250'],
    [[host, external], 'https://1.2.3.4:10250'],
    [[host], 'https://mac:10250'],
    [[address('InternalIP', 'fd00::1')], 'https://[fd00::1]:10250'],
  ] as const) {
    it(`is ${expected} for ${JSON.stringify(addresses)}`, () => {
      assert.equal(originOf({ addresses }), expected);
    });
  }
});

describe('a dial error', () => {
  const failed = (code: string): Error => Object.assign(new Error('message'), { code });
  for (const [code, expected] of [
    ['ECONNREFUSED', 'dial tcp 10.0.0.1:1: connect: connection refused'],
    ['ETIMEDOUT', 'dial tcp 10.0.0.1:1: i/o timeout'],
    ['ENOTFOUND', 'dial tcp: lookup 10.0.0.1: no such host'],
    ['OTHER', 'message'],
  ] as const) {
    it(`of ${code} is worded like in Go`, () => {
      assert.equal(dialError(failed(code), 'https://10.0.0.1:1/x'), expected);
    });
  }

  it('is formatted even for an invalid URL', () => {
    assert.equal(dialError(failed('X'), 'https://a b:1'), 'invalid URL "https://a b:1"');
  });
});
