import { legacyNodeIdentity, secretNames } from '@tartan/api';
import {
  type CallOptions,
  type Client,
  clusterRoleBindings,
  type ExplainedRule,
  ignoreNotFound,
  policyRule as rule,
  type PolicyRules,
  secrets,
  serviceAccounts,
} from '@tartan/kube';
import { isSecretOf, type SecretClaimant } from '../host-work/machine-secret.ts';

/** What `deleteLegacyIdentity` asks of Kubernetes. The manager does not have these rights: whoever takes a cluster over has them. */
export const legacyIdentityRights = (secretsNamespace: string): PolicyRules<ExplainedRule> => ({
  clusterWide: [
    rule('rbac.authorization.k8s.io', 'clusterrolebindings', ['delete'], 'the original bound one for every machine'),
  ],
  inNamespace: {
    [secretsNamespace]: [
      rule('', 'secrets', ['get', 'delete'], 'the token that the original made for every machine, which never expires'),
      rule('', 'serviceaccounts', ['delete'], 'those that the original made for machines'),
    ],
  },
});

/**
 * For the take-over of a cluster from the original: deletes the token of a machine that never expires, and what gives it its rights.
 * Idempotent. `foreign`: nothing proves that the token is this machine's, so all was left alone. Names are those of machines of all
 * namespaces, and the Secret tells whose they are: it goes last.
 */
export const deleteLegacyIdentity = async (
  client: Pick<Client, 'get' | 'delete'>,
  { namespace, machine }: { readonly namespace: string; readonly machine: string },
  claimant: SecretClaimant,
  options: CallOptions = {},
): Promise<'gone' | 'foreign'> => {
  const token = { namespace, name: secretNames.legacyNodeToken(machine) };
  const found = await ignoreNotFound(client.get(secrets, token, options));
  if (found === undefined) return 'gone';
  const createdAt = Date.parse(found.metadata.creationTimestamp ?? '');
  if (!isSecretOf({ machineUID: undefined, serverID: '', createdAt }, claimant)) return 'foreign';
  const name = legacyNodeIdentity(machine);
  await ignoreNotFound(client.delete(clusterRoleBindings, { name }, options));
  await ignoreNotFound(client.delete(serviceAccounts, { namespace, name }, options));
  const preconditions = { uid: found.metadata.uid };
  await ignoreNotFound(client.delete(secrets, token, { ...options, preconditions }));
  return 'gone';
};
