import { createHash } from 'node:crypto';
import { createLruCache, type LruCache } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { createRateLimiter, type RateLimiter } from '../http/rate-limit.ts';
import type { GitHubApp } from '../runner-service.ts';
import { createTokenCache, type TokenCache } from './access-token.ts';

interface CachedResponse {
  readonly etag: string;
  readonly body: unknown;
}

/** What all who ask as the same installation have in common: GitHub counts and tags by it. */
export interface Installation {
  readonly tokens: TokenCache;
  readonly rateLimiter: RateLimiter;
  /** Answers that GitHub need not repeat as long as they are the same: its 304 costs nothing of the limit. */
  readonly etagCache: LruCache<CachedResponse>;
}

/** Of 30 repositories with some runs each. */
const maxEntries = 500;

/** By the `fetch` that asks first: there is one in a process, but for tests. */
const installations = new WeakMap<typeof fetch, Map<string, Installation>>();

export const installationOf = (app: GitHubApp, clock: Clock, send: typeof fetch, apiURL: string): Installation => {
  const byApp = installations.get(send) ?? new Map<string, Installation>();
  installations.set(send, byApp);
  // With the key: whoever names an App without having its key must not ask with a token that somebody else was given.
  const fingerprint = createHash('sha256').update(app.privateKey.reveal()).digest('hex');
  const key = [apiURL, app.appID, app.installationID, fingerprint].join(' ');
  const installation = byApp.get(key) ?? {
    tokens: createTokenCache(clock),
    rateLimiter: createRateLimiter(clock),
    etagCache: createLruCache(maxEntries),
  };
  byApp.set(key, installation);
  return installation;
};
