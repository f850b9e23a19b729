import { createHash } from 'node:crypto';
import type { Clock } from '@tartan/kube/clock';
import { createRateLimiter, type RateLimiter } from '../http/rate-limit.ts';
import type { GitHubApp } from '../runner-service.ts';
import { createTokenCache, type TokenCache } from './access-token.ts';

interface CachedResponse {
  readonly etag: string;
  readonly body: unknown;
}

/** Answers that GitHub need not repeat as long as they are the same: its 304 costs nothing of the limit. */
interface ETagCache {
  get(question: string): CachedResponse | undefined;
  set(question: string, kept: CachedResponse): void;
}

/** Of 30 repositories with some runs each. The one that was not asked for the longest time goes first. */
const maxEntries = 500;

export const createETagCache = (limit = maxEntries): ETagCache => {
  const answers = new Map<string, CachedResponse>();
  const set: ETagCache['set'] = (question, kept) => {
    answers.delete(question);
    answers.set(question, kept);
    const [oldest] = answers.keys();
    if (answers.size > limit && oldest !== undefined) answers.delete(oldest);
  };
  return {
    get: (question) => {
      const found = answers.get(question);
      if (found !== undefined) set(question, found);
      return found;
    },
    set,
  };
};

/** What all who ask as the same installation have in common: GitHub counts and tags by it. */
export interface Installation {
  readonly tokens: TokenCache;
  readonly rateLimiter: RateLimiter;
  readonly etagCache: ETagCache;
}

/** By the clock and the way to GitHub first: there is one of each in a process, but for tests. */
const installations = new WeakMap<Clock, WeakMap<typeof fetch, Map<string, Installation>>>();

export const installationOf = (app: GitHubApp, clock: Clock, send: typeof fetch, apiURL: string): Installation => {
  const byWay = installations.get(clock) ?? new WeakMap<typeof fetch, Map<string, Installation>>();
  installations.set(clock, byWay);
  const byApp = byWay.get(send) ?? new Map<string, Installation>();
  byWay.set(send, byApp);
  // With the key: whoever names an App without having its key must not ask with a token that somebody else was given.
  const fingerprint = createHash('sha256').update(app.privateKey.reveal()).digest('hex');
  const key = [apiURL, app.appID, app.installationID, fingerprint].join(' ');
  const account = byApp.get(key) ?? {
    tokens: createTokenCache(clock),
    rateLimiter: createRateLimiter(clock),
    etagCache: createETagCache(),
  };
  byApp.set(key, account);
  return account;
};
