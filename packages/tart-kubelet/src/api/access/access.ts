import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { Logger } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { ApiProblem } from '../problem.ts';
import type { Route } from '../route.ts';
import { certificateUser } from './certificate-user.ts';
import { type Permission, permissionsFor } from './permission.ts';
import type { Reviews, User } from './reviews.ts';
import { createVerdictCache } from './verdict-cache.ts';

/** Who may call. Nobody is let in without a name, and nobody by our own word: the API server's roles decide. */
export interface Access {
  /** Rejects with ApiProblem 401 (who?), 403 (no) or 503 (cannot tell: never let in on a guess). */
  admit(incoming: IncomingMessage, route: Route): Promise<User>;
}

export interface AccessOptions {
  reviews: Reviews;
  nodeName: string;
  clock: Clock;
  log: Logger;
}

/** Short, since a right that was taken away must not linger; a denial shorter still, since it was perhaps just granted. */
const holds = { user: 60_000, nobody: 10_000, allowed: 60_000, denied: 10_000 };
const limits = { tokens: 256, verdicts: 1024, asking: 32, tokenLength: 16 * 1024 };

const bearerOf = (incoming: IncomingMessage): string | undefined =>
  /^bearer +([\w.~+/=-]+) *$/i.exec(incoming.headers.authorization ?? '')?.[1];

export const createAccess = ({ reviews, nodeName, clock, log }: AccessOptions): Access => {
  const onFull = (): Error => new ApiProblem(503, 'Too many requests are being checked at once: try again');
  const cacheLimits = { clock, maxAsking: limits.asking, onFull };
  const users = createVerdictCache<User | undefined>({
    ...cacheLimits,
    maxEntries: limits.tokens,
    lifetimeMs: (user) => (user ? holds.user : holds.nobody),
  });
  const verdicts = createVerdictCache<boolean>({
    ...cacheLimits,
    maxEntries: limits.verdicts,
    lifetimeMs: (allowed) => (allowed ? holds.allowed : holds.denied),
  });

  const asked = async <T>(what: string, ask: () => Promise<T>): Promise<T> => {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof ApiProblem) throw error;
      log.warn('A caller could not be checked with the API server', { what, error });
      throw new ApiProblem(503, `The API server did not say ${what}: try again`, { cause: error });
    }
  };

  const whoIs = async (incoming: IncomingMessage): Promise<User | undefined> => {
    const { socket } = incoming;
    if (socket instanceof TLSSocket && socket.authorized) {
      const user = certificateUser(socket.getPeerCertificate(), clock.now());
      if (user) return user;
    }
    const token = bearerOf(incoming);
    if (token === undefined || token.length > limits.tokenLength) return undefined;
    // The token itself is not kept.
    const key = createHash('sha256').update(token).digest('base64');
    return asked('whose token this is', () => users.get(key, () => reviews.whose(token)));
  };

  const mayDo = (user: User, permission: Permission): Promise<boolean> => {
    const key = JSON.stringify([user.name, user.uid, user.groups, user.extra, permission.verb, permission.subresource]);
    return asked('whether this is allowed', () => verdicts.get(key, () => reviews.mayDo(user, permission)));
  };

  return {
    admit: async (incoming, route) => {
      const user = await whoIs(incoming);
      if (!user) throw new ApiProblem(401, 'Unauthorized');
      const permissions = permissionsFor(route);
      for (const permission of permissions) if (await mayDo(user, permission)) return user;
      const wanted = permissions.map(({ verb, subresource }) => `${verb} nodes/${subresource}`).join(' or ');
      const name = JSON.stringify(user.name.slice(0, 256));
      throw new ApiProblem(
        403,
        `Forbidden: user ${name} may not ${wanted} of node ${nodeName}. Grant it by a ClusterRole`,
      );
    },
  };
};
