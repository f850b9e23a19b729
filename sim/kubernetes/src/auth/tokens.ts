import { createPrivateKey, createPublicKey, randomUUID } from 'node:crypto';
import { decodeJwt, errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { type Clock, timestamp } from '@tartan/kube/clock';
import { isObject } from '../object.ts';
import type { Identity, ServiceAccountClaims } from './identity.ts';

/** The real server forgives a minute between its clock and that of whoever issued the token. */
export const leewaySeconds = 60;

type Tokens = Pick<Identity, 'signToken' | 'verifyToken' | 'problemOf'>;
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

/** The texts of Go's JOSE library and of the real authenticator, which a TokenReview hands on. */
const problemIn = (error: unknown): string => {
  if (error instanceof errors.JWTExpired) return 'service account token has expired';
  if (error instanceof errors.JWTClaimValidationFailed && error.claim === 'nbf')
    return 'service account token is not valid yet';
  return 'go-jose/go-jose: error in cryptographic primitive';
};

const listed = (audiences: readonly string[]): string =>
  `[${audiences.map((entry) => JSON.stringify(entry)).join(' ')}]`;

/** Bound service-account tokens, signed with that key (PEM, P-256). */
export const createTokens = (clock: Clock, issuer: string, key: string): Tokens => {
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
    problemOf: async (token, audiences) => {
      const checked = await check(token, audiences);
      return 'claims' in checked ? undefined : checked.problem;
    },
  };
};
