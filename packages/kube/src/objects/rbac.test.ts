import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { KubeObject } from './object.ts';
import { bindClusterRole, grantPolicyRules, policyRule, withoutReasons } from './rbac.ts';

const read = policyRule('', 'pods,nodes', ['get'], 'to look');
const one = policyRule('apps', 'deployments web', ['patch'], 'to roll it');

const puts = () => {
  const made: string[] = [];
  const put = async (_: unknown, object: KubeObject & { rules?: unknown; roleRef?: unknown; subjects?: unknown }) => {
    const { namespace = '', name = '' } = object.metadata ?? {};
    made.push(`${object.kind} ${namespace}/${name} ${JSON.stringify(object.rules ?? object.subjects)}`);
  };
  return { made, put };
};

describe('policy rules', () => {
  test('a rule names resources, and resourceNames where it is limited to some objects', () => {
    assert.deepEqual(one, {
      apiGroups: ['apps'],
      resources: ['deployments'],
      resourceNames: ['web'],
      verbs: ['patch'],
      for: 'to roll it',
    });
    assert.deepEqual(read.resources, ['pods', 'nodes']);
    const table = withoutReasons({ clusterWide: [read], inNamespace: { ci: [one] } });
    assert.deepEqual(table.clusterWide, [{ apiGroups: [''], resources: ['pods', 'nodes'], verbs: ['get'] }]);
    assert.ok(!JSON.stringify(table).includes('to roll it'));
  });

  test('are granted as a ClusterRole, and a Role in each namespace', async () => {
    const { made, put } = puts();
    const account = { namespace: 'ci', name: 'worker' };
    await grantPolicyRules(put, 'it', { account }, withoutReasons({ clusterWide: [read], inNamespace: { ci: [one] } }));
    const subjects = '[{"kind":"ServiceAccount","namespace":"ci","name":"worker"}]';
    assert.deepEqual(made, [
      'ClusterRole /it [{"apiGroups":[""],"resources":["pods","nodes"],"verbs":["get"]}]',
      `ClusterRoleBinding /it ${subjects}`,
      'Role ci/it [{"apiGroups":["apps"],"resources":["deployments"],"resourceNames":["web"],"verbs":["patch"]}]',
      `RoleBinding ci/it ${subjects}`,
    ]);
  });

  test('an empty table creates nothing, and a group can be bound to an existing role', async () => {
    const { made, put } = puts();
    await grantPolicyRules(put, 'it', { group: 'people' }, {});
    await bindClusterRole(put, 'see', { group: 'people' }, 'view');
    assert.equal(made.length, 1);
    assert.match(made[0] ?? '', /^ClusterRoleBinding \/see .*"kind":"Group","name":"people"/);
  });
});
