import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { manualClock } from '@tartan/kube/clock';
import { masters } from '../authentication/user.ts';
import { nodeRules } from '../authorization/bootstrap-policy.ts';
import { rulesIn } from '../authorization/policy-rule.ts';
import { createKubernetes } from '../kubernetes.ts';
import { copy, type KubeObject } from '../object.ts';
import { memoryStorage } from '../storage/memory.ts';
import { aggregatedRules } from './cluster-role-aggregation.ts';

const role = (name: string, rules: object[], labels: Record<string, string> = {}, more: object = {}): KubeObject =>
  ({ apiVersion: 'v1', kind: 'ClusterRole', metadata: { name, labels }, rules, ...more }) as unknown as KubeObject;
const reads = (resource: string): object => ({ verbs: ['get'], apiGroups: [''], resources: [resource] });
const gathering = (...labels: string[]): object => ({
  aggregationRule: { clusterRoleSelectors: labels.map((label) => ({ matchLabels: { [label]: 'true' } })) },
});

describe('aggregated roles', () => {
  it('have the rules of the roles that they select, by selector and name, each once', () => {
    const all = [
      role('b', [reads('pods')], { one: 'true' }),
      role('a', [reads('nodes'), reads('pods')], { one: 'true', two: 'true' }),
      role('c', [reads('secrets')]),
      role('d', [reads('leases')], { two: 'true' }),
    ];
    const whole = role('whole', [reads('events')], { one: 'true' }, gathering('two', 'one'));
    assert.deepEqual(aggregatedRules(whole, [...all, whole]), [reads('nodes'), reads('pods'), reads('leases')]);
  });

  it('are empty if they select nothing, and other roles are not changed', () => {
    assert.deepEqual(aggregatedRules(role('whole', [reads('pods')], {}, gathering('x')), []), []);
    assert.equal(aggregatedRules(role('plain', [reads('pods')]), []), undefined);
  });
});

describe('the bootstrap roles', () => {
  const start = (storage = memoryStorage()) => createKubernetes({ clock: manualClock(), controllers: false, storage });
  const found = (api: Awaited<ReturnType<typeof start>>['api'], plural: string, name: string): KubeObject => {
    const resource = api.find('rbac.authorization.k8s.io', plural) ?? assert.fail();
    return api.get(resource, '', name) ?? assert.fail(name);
  };

  it('are aggregated: view into edit, and edit into admin', async () => {
    const { api, stop } = await start();
    const rules = (name: string) => rulesIn(found(api, 'clusterroles', name)).map((rule) => JSON.stringify(rule));
    const [view, edit, admin] = [rules('view'), rules('edit'), rules('admin')];
    assert.ok(view.length > 0);
    assert.ok(view.every((rule) => edit.includes(rule)));
    assert.ok(edit.every((rule) => admin.includes(rule)) && admin.length > edit.length);
    assert.ok(nodeRules.length > 10);
    stop();
  });

  it('are restored when they are missing, and kept when they exist', async () => {
    const storage = memoryStorage();
    const first = await start(storage);
    const bindings = first.api.find('rbac.authorization.k8s.io', 'clusterrolebindings') ?? assert.fail();
    const admin = { name: 'admin', groups: [masters] };
    first.api.delete(bindings, '', 'system:discovery', admin);
    const changed = copy(found(first.api, 'clusterrolebindings', 'system:basic-user'));
    changed['subjects'] = [];
    first.api.update(bindings, '', changed, admin);
    first.stop();
    const { api, stop } = await start(storage);
    assert.equal(found(api, 'clusterrolebindings', 'system:discovery').metadata.name, 'system:discovery');
    assert.equal(found(api, 'clusterrolebindings', 'system:basic-user')['subjects'], undefined);
    stop();
  });

  it('give system:bootstrappers no rights', async () => {
    const { api, stop } = await start();
    const asked = {
      user: { name: 'system:bootstrap:abcdef', groups: ['system:bootstrappers', 'system:authenticated'] },
      verb: 'create',
      group: 'certificates.k8s.io',
      version: 'v1',
      resource: 'certificatesigningrequests',
      subresource: '',
      namespace: '',
      name: '',
      fieldSelector: '',
      labelSelector: '',
    };
    assert.equal(api.authorize(asked).allowed, false);
    stop();
  });
});
