import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ActionRequest } from '../resource.ts';
import { fakeApi } from '../store/testing/fake-api.ts';
import { assertNodeMayRequestToken } from './node-restriction.ts';

describe('a token request of a Node', () => {
  const api = fakeApi();
  const audience = (name?: string) => ({ serviceAccountToken: { path: 't', ...(name && { audience: name }) } });
  const volumes = [{ name: 'v', projected: { sources: [{ configMap: {} }, audience('jobs')] } }, { name: 'e' }];
  const pod = (name: string, spec: object) =>
    api.put('pods', { metadata: { name, namespace: 'default' }, spec: { serviceAccountName: 'builder', ...spec } });
  pod('own', { nodeName: 'mac-1', volumes });
  pod('plain', { nodeName: 'mac-1' });
  pod('api', { nodeName: 'mac-1', volumes: [{ name: 'v', projected: { sources: [audience()] } }] });
  pod('foreign', { nodeName: 'mac-2', volumes });

  const ask = (spec: Record<string, unknown>, groups = ['system:nodes']): void => {
    const call: ActionRequest = {
      verb: 'create',
      name: 'builder',
      namespace: 'default',
      rest: '',
      query: new URLSearchParams(),
      headers: {},
      signal: new AbortController().signal,
      body: undefined,
      context: { api, user: { name: 'system:node:mac-1', groups }, dryRun: false },
    };
    assertNodeMayRequestToken(call, spec);
  };
  const bound = (name: string, audiences: string[] = ['jobs'], more: object = {}) => ({
    audiences,
    boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name, uid: `uid-of-${name}`, ...more },
  });

  it('is granted for a Pod of its own and an audience of one of its volumes', () => ask(bound('own')));
  it('is granted for the API server when a volume names no audience', () => ask(bound('api', [])));
  it('is not checked for other users', () => ask({}, ['system:masters']));

  const unbound = 'node requested token not bound to a pod';
  for (const [when, spec, why] of [
    ['bound to nothing', {}, unbound],
    ['bound to a Secret', bound('own', [], { kind: 'Secret' }), unbound],
    ['bound by name alone', bound('own', [], { uid: '' }), 'node requested token with a pod binding without a uid'],
    ['for a Pod that was replaced', bound('own', [], { uid: 'no' }), 'the UID in the bound object reference (no)'],
    ['for the Pod of another Node', bound('foreign'), 'a pod scheduled on a different node'],
    ['for two audiences', bound('own', ['jobs', 'more']), 'node may only request 0 or 1 audiences'],
    ['for an audience that no volume names', bound('own', ['other']), 'audience "other" not found in pod spec volume'],
    ['for the API server when no volume says so', bound('own', []), 'audience "" not found in pod spec volume'],
    ['for a Pod without volumes', bound('plain'), 'audience "jobs" not found in pod spec volume'],
  ] as const) {
    it(`is refused when it is ${when}`, () => {
      assert.throws(
        () => ask(spec),
        (error) => {
          assert.ok(error instanceof Error && 'code' in error && error.code === 403);
          return error.message.startsWith('serviceaccounts "builder" is forbidden: ') && error.message.includes(why);
        },
      );
    });
  }

  it('is refused when the Pod does not exist', () => {
    assert.throws(() => ask(bound('gone')), { code: 404, message: 'pods "gone" not found' });
  });
});
