import { createPrivateKey, createPublicKey, randomUUID } from 'node:crypto';
import { type Clock, timestamp } from '@tartan/kube/clock';
import { decodeJwt, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { isObject, type KubeObject } from '../object.ts';
import type { ClusterPki, ServiceAccountClaims } from '../pki/pki.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import type { User } from './user.ts';

/** The real server tolerates a clock skew of one minute. */
const leewaySeconds = 60;

type TokenSigner = Pick<ClusterPki, 'signToken' | 'verifyToken' | 'tokenError'>;
type Checked = { claims: ServiceAccountClaims } | { problem: string | undefined };

interface Reference {
  name: string;
  uid: string;
}

const reference = (value: unknown): Reference | undefined => {
  if (!isObject(value) || typeof value['name'] !== 'string') return undefined;
  return { name: value['name'], uid: typeof value['uid'] === 'string' ? value['uid'] : '' };
};

const shown = ({ name, uid }: Reference): Partial<Reference> => (uid === '' ? { name } : { name, uid });

const bound = (kind: 'pod' | 'node' | 'secret', to: Reference | undefined): Record<string, Partial<Reference>> =>
  to ? { [kind]: shown(to) } : {};

const claimsOf = (payload: JWTPayload): ServiceAccountClaims | undefined => {
  const own = payload['kubernetes.io'];
  if (!isObject(own) || typeof own['namespace'] !== 'string') return undefined;
  const serviceAccount = reference(own['serviceaccount']);
  if (!serviceAccount) return undefined;
  const [pod, node, secret] = [reference(own['pod']), reference(own['node']), reference(own['secret'])];
  return {
    namespace: own['namespace'],
    serviceAccount,
    ...(pod ? { pod } : {}),
    ...(node ? { node } : {}),
    ...(secret ? { secret } : {}),
    audiences: [payload.aud ?? []].flat(),
    expirationSeconds: (payload.exp ?? 0) - (payload.iat ?? 0),
    ...(payload.jti ? { id: payload.jti } : {}),
  };
};

const issuerOf = (token: string): string | undefined => {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
};

/** The texts of Go's JOSE library and of the real authenticator, which a TokenReview returns. */
const problemIn = (error: unknown): string => {
  if (error instanceof errors.JWTExpired) return 'service account token has expired';
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf')
    return 'service account token is not valid yet';
  return 'go-jose/go-jose: error in cryptographic primitive';
};

const listed = (audiences: readonly string[]): string =>
  `[${audiences.map((entry) => JSON.stringify(entry)).join(' ')}]`;

/** Signs and verifies bound service account tokens with that key (PEM, P-256). */
export const createTokenSigner = (clock: Clock, issuer: string, key: string): TokenSigner => {
  const [privateKey, publicKey] = [createPrivateKey(key), createPublicKey(key)];
  const check = async (token: string, audiences: readonly string[] = [issuer]): Promise<Checked> => {
    if (issuerOf(token) !== issuer) return { problem: undefined };
    try {
      const { payload } = await jwtVerify(token, publicKey, {
        algorithms: ['ES256'],
        issuer,
        requiredClaims: ['exp', 'nbf', 'iat'],
        currentDate: new Date(clock.now()),
        clockTolerance: leewaySeconds,
      });
      const claims = claimsOf(payload);
      if (!claims) return { problem: undefined };
      if (claims.audiences.some((entry) => audiences.includes(entry))) return { claims };
      const [given, wanted] = [listed(claims.audiences), listed(audiences)];
      return { problem: `token audiences ${given} is invalid for the target audiences ${wanted}` };
    } catch (error) {
      return { problem: problemIn(error) };
    }
  };
  return {
    signToken: async (claims) => {
      const { namespace, serviceAccount, expirationSeconds } = claims;
      const now = Math.floor(clock.now() / 1000);
      const token = await new SignJWT({
        aud: [...claims.audiences],
        'kubernetes.io': {
          namespace,
          ...bound('node', claims.node),
          ...bound('pod', claims.pod),
          ...bound('secret', claims.secret),
          serviceaccount: shown(serviceAccount),
        },
      })
        .setProtectedHeader({ alg: 'ES256' })
        .setIssuer(issuer)
        .setSubject(`system:serviceaccount:${namespace}:${serviceAccount.name}`)
        .setJti(randomUUID())
        .setIssuedAt(now)
        .setNotBefore(now)
        .setExpirationTime(now + expirationSeconds)
        .sign(privateKey);
      return { token, expirationTimestamp: timestamp((now + expirationSeconds) * 1000) };
    },
    verifyToken: async (token, audiences) => {
      const checked = await check(token, audiences);
      return 'claims' in checked ? checked.claims : undefined;
    },
    tokenError: async (token, audiences) => {
      const checked = await check(token, audiences);
      return 'claims' in checked ? undefined : checked.problem;
    },
  };
};

export type TokenResult = { user: User; audiences: readonly string[] } | { problem: string | undefined };

const invalidated = 'service account token has been invalidated';

const lookUp = (api: LoopbackClient, plural: string, namespace: string, name: string): KubeObject | undefined => {
  const resource = api.find('', plural);
  return resource && api.get(resource, namespace, name);
};

/** An object whose deletion began longer ago than the tolerated clock skew counts as gone. */
const isDeleted = (api: LoopbackClient, object: KubeObject): boolean => {
  const since = object.metadata.deletionTimestamp;
  return since !== undefined && Date.parse(since) < api.clock.now() - leewaySeconds * 1000;
};

const accountProblem = (
  api: LoopbackClient,
  { namespace, serviceAccount }: ServiceAccountClaims,
): string | undefined => {
  const { name, uid } = serviceAccount;
  const account = lookUp(api, 'serviceaccounts', namespace, name);
  if (!account) return `serviceaccounts "${name}" not found`;
  if (account.metadata.uid !== uid)
    return `service account UID (${account.metadata.uid}) does not match claim (${uid})`;
  return isDeleted(api, account) ? `service account ${namespace}/${name} has been deleted` : undefined;
};

/** A bound token ends when the object it is bound to is deleted. The node of a pod-bound token is informational and not checked. */
const boundProblem = (api: LoopbackClient, claims: ServiceAccountClaims): string | undefined => {
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
    if (isDeleted(api, object)) return invalidated;
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
  api: LoopbackClient,
  identity: ClusterPki,
): Promise<TokenResult> => {
  const claims = await identity.verifyToken(token, audiences);
  if (!claims) return { problem: await identity.tokenError(token, audiences) };
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
