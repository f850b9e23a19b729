import { timestamp } from '@tartan/kube/clock';
import { masters } from '../authentication/user.ts';
import { aggregatedRules } from '../controllers/cluster-role-aggregation.ts';
import dump from '../generated/roles.generated.json' with { type: 'json' };
import type { KubeObject } from '../object.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { type Core, keyOf } from '../store/store.ts';
import { type PolicyRule, rulesIn } from './policy-rule.ts';

/** What a real server of that version creates when it starts, without the roles of controllers that do not exist here. */
const { roles: recorded } = dump as unknown as { version: string; roles: readonly KubeObject[] };

const group = 'rbac.authorization.k8s.io';

const aggregateOnce = (roles: readonly KubeObject[]): KubeObject[] =>
  roles.map((role) => {
    const rules =
      role.kind === 'ClusterRole' &&
      aggregatedRules(
        role,
        roles.filter(({ kind }) => kind === 'ClusterRole'),
      );
    return rules ? { ...role, rules } : role;
  });

/** As the aggregation controller would leave them. Several rounds: `edit` includes `view`, and `admin` includes `edit`. */
const aggregatedRoles = aggregateOnce(aggregateOnce(aggregateOnce(recorded)));

/** The rules of `system:node`. No binding grants them: the Node authorizer applies them itself. */
export const nodeRules: readonly PolicyRule[] = recorded
  .filter(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'system:node')
  .flatMap(rulesIn);

/** Creates the roles and bindings that are missing, as every start of a real server does. */
export const createBootstrapRoles = (core: Core): void => {
  const creationTimestamp = timestamp(core.clock.now());
  for (const role of aggregatedRoles) {
    const resource = core.registry.findKind(group, role.kind);
    const key = resource && keyOf(resource, role.metadata.namespace ?? '', role.metadata.name);
    if (key === undefined || core.storage.get(key)) continue;
    core.storage.put(key, { ...role, metadata: { ...role.metadata, uid: core.uuid(), creationTimestamp } });
  }
};

type Subject = { kind: 'User' | 'Group'; name: string } | { kind: 'ServiceAccount'; namespace: string; name: string };

/** Grants a ClusterRole to a subject in the whole cluster, as an administrator would. For setting up a cluster. */
export const bindClusterRole = (api: LoopbackClient, role: string, subject: Subject): void => {
  const bindings = api.find(group, 'clusterrolebindings');
  if (!bindings) throw new Error('this server serves no roles');
  const name = `${role}:${subject.name}`;
  if (api.get(bindings, '', name)) return;
  const binding = {
    apiVersion: `${group}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name, uid: '', resourceVersion: '', creationTimestamp: '' },
    roleRef: { apiGroup: group, kind: 'ClusterRole', name: role },
    subjects: [subject],
  };
  api.create(bindings, '', binding, { name: 'kubernetes-admin', groups: [masters] });
};
