import type { Api } from '../api/api.ts';
import type { KubeObject } from '../object.ts';
import type { Identity, ServiceAccountClaims } from './identity.ts';
import { leewaySeconds } from './tokens.ts';
import type { User } from './user.ts';

export type TokenVerdict = { user: User; audiences: readonly string[] } | { problem: string | undefined };

const invalidated = 'service account token has been invalidated';

const lookUp = (api: Api, plural: string, namespace: string, name: string): KubeObject | undefined => {
  const resource = api.find('', plural);
  return resource && api.get(resource, namespace, name);
};

/** An object that has been going away for longer than clocks may differ is as good as gone. */
const gone = (api: Api, object: KubeObject): boolean => {
  const since = object.metadata.deletionTimestamp;
  return since !== undefined && Date.parse(since) < api.clock.now() - leewaySeconds * 1000;
};

const accountProblem = (api: Api, { namespace, serviceAccount }: ServiceAccountClaims): string | undefined => {
  const { name, uid } = serviceAccount;
  const account = lookUp(api, 'serviceaccounts', namespace, name);
  if (!account) return `serviceaccounts "${name}" not found`;
  if (account.metadata.uid !== uid)
    return `service account UID (${account.metadata.uid}) does not match claim (${uid})`;
  return gone(api, account) ? `service account ${namespace}/${name} has been deleted` : undefined;
};

/** The one object whose deletion ends a bound token. The node of a pod-bound token is only told, not checked. */
const boundProblem = (api: Api, claims: ServiceAccountClaims): string | undefined => {
  const bindings = [
    { kind: 'secret', plural: 'secrets', namespace: claims.namespace, to: claims.secret },
    { kind: 'pod', plural: 'pods', namespace: claims.namespace, to: claims.pod },
    { kind: 'node', plural: 'nodes', namespace: '', to: claims.pod ? undefined : claims.node },
  ];
  for (const { kind, plural, namespace, to } of bindings) {
    if (!to) continue;
    const object = lookUp(api, plural, namespace, to.name);
    if (!object) return invalidated;
    const { uid } = object.metadata;
    if (uid !== to.uid) return `${kind} UID (${uid}) does not match service account ${kind} ref claim (${to.uid})`;
    if (gone(api, object)) return invalidated;
  }
  return undefined;
};

const extraOf = ({ id, pod, node }: ServiceAccountClaims): Record<string, string[]> => {
  const prefix = 'authentication.kubernetes.io';
  return {
    ...(id ? { [`${prefix}/credential-id`]: [`JTI=${id}`] } : {}),
    ...(node ? { [`${prefix}/node-name`]: [node.name] } : {}),
    ...(node && node.uid !== '' ? { [`${prefix}/node-uid`]: [node.uid] } : {}),
    ...(pod ? { [`${prefix}/pod-name`]: [pod.name], [`${prefix}/pod-uid`]: [pod.uid] } : {}),
  };
};

export const serviceAccountGroups = (namespace: string): string[] => [
  'system:serviceaccounts',
  `system:serviceaccounts:${namespace}`,
];

export const serviceAccountUser = async (
  token: string,
  audiences: readonly string[],
  api: Api,
  identity: Identity,
): Promise<TokenVerdict> => {
  const claims = await identity.verifyToken(token, audiences);
  if (!claims) return { problem: await identity.problemOf(token, audiences) };
  const problem = accountProblem(api, claims) ?? boundProblem(api, claims);
  if (problem !== undefined) return { problem };
  const { namespace, serviceAccount } = claims;
  return {
    user: {
      name: `system:serviceaccount:${namespace}:${serviceAccount.name}`,
      uid: serviceAccount.uid,
      groups: serviceAccountGroups(namespace),
      extra: extraOf(claims),
    },
    audiences: audiences.filter((entry) => claims.audiences.includes(entry)),
  };
};
