import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import type { Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { HttpError } from '../http-response.ts';
import type { Route } from '../parse-request.ts';
import { createReviewCache } from './review-cache.ts';
import { type Permission, permissions, type Reviews, type User } from './reviews.ts';

type Subject = { readonly CN?: unknown; readonly O?: unknown };

const strings = (value: unknown): string[] =>
  (Array.isArray(value) ? value : [value]).filter((each) => typeof each === 'string');

/**
 * The user of a client certificate: common name and organisations, as in Kubernetes. The chain must have been verified. Undefined if
 * it has expired: the handshake may have been long ago.
 */
export const userOfCertificate = (
  certificate: Pick<PeerCertificate, 'valid_from' | 'valid_to'> & { subject?: Subject },
  now: number,
): User | undefined => {
  const names = strings(certificate.subject?.CN);
  const [name] = names;
  const isCurrent = Date.parse(certificate.valid_from) <= now && now <= Date.parse(certificate.valid_to);
  // With two common names, implementations differ in which one counts.
  if (!isCurrent || names.length !== 1 || name === undefined || name === '') return undefined;
  return { name, groups: [...strings(certificate.subject?.O), 'system:authenticated'] };
};

export interface RequestAuthOptions {
  reviews: Reviews;
  nodeName: string;
  clock: Clock;
  log: Logger;
}

/** Short, so that a revoked permission does not linger; denials even shorter, since the permission may just have been granted. */
const positiveTtlMs = 60_000;
const negativeTtlMs = 10_000;
const maxTokenLength = 16 * 1024;

const bearerToken = (incoming: IncomingMessage): string | undefined =>
  /^bearer +([\w.~+/=-]+) *$/i.exec(incoming.headers.authorization ?? '')?.[1];

/** Authenticates and authorizes requests. Never anonymous, never by a local decision: the API server's RBAC decides. */
export const createRequestAuth = ({ reviews, nodeName, clock, log }: RequestAuthOptions) => {
  const cachedUser = createReviewCache<User | undefined>(clock, 256, (user) => (user ? positiveTtlMs : negativeTtlMs));
  const cachedDecision = createReviewCache<boolean>(clock, 1024, (allowed) =>
    allowed ? positiveTtlMs : negativeTtlMs,
  );

  const reviewed = async <T>(what: string, review: () => Promise<T>): Promise<T> => {
    try {
      return await review();
    } catch (error) {
      if (error instanceof HttpError) throw error;
      log.warn('A caller could not be checked with the API server', { what, error });
      throw new HttpError(503, `The API server did not say ${what}: try again`, { cause: error });
    }
  };

  const authenticate = async (incoming: IncomingMessage): Promise<User | undefined> => {
    const { socket } = incoming;
    if (socket instanceof TLSSocket && socket.authorized) {
      const user = userOfCertificate(socket.getPeerCertificate(), clock.now());
      if (user) return user;
    }
    const token = bearerToken(incoming);
    if (token === undefined || token.length > maxTokenLength) return undefined;
    // Caches only a hash, not the token.
    const key = createHash('sha256').update(token).digest('base64');
    return reviewed('whose token this is', () => cachedUser(key, () => reviews.reviewToken(token)));
  };

  const isAllowed = (user: User, permission: Permission): Promise<boolean> => {
    const key = JSON.stringify([user.name, user.uid, user.groups, user.extra, permission.verb, permission.subresource]);
    return reviewed('whether this is allowed', () => cachedDecision(key, () => reviews.reviewAccess(user, permission)));
  };

  return {
    /** Rejects with HttpError 401 (unauthenticated), 403 (denied) or 503 (the API server did not decide: fail closed). */
    authorize: async (incoming: IncomingMessage, route: Route) => {
      const user = await authenticate(incoming);
      if (!user) throw new HttpError(401, 'Unauthorized');
      const sufficient = permissions[route.kind];
      for (const permission of sufficient) if (await isAllowed(user, permission)) return user;
      const required = sufficient.map(({ verb, subresource }) => `${verb} nodes/${subresource}`).join(' or ');
      const name = JSON.stringify(user.name.slice(0, 256));
      throw new HttpError(
        403,
        `Forbidden: user ${name} may not ${required} of node ${nodeName}. Grant it by a ClusterRole`,
      );
    },
  };
};

export type RequestAuth = ReturnType<typeof createRequestAuth>;
