import { createHash } from 'node:crypto';
import { createLruCache, createSharedReads, type LruCache } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { createRateLimiter } from '../http/rate-limit.ts';
import type { Job } from '../http/responses.ts';
import type { GitHubApp, Problem, RunnerService } from '../runner-service.ts';
import { createTokenCache } from './access-token.ts';

export type Installation = ReturnType<typeof createInstallation>;

/** State that all callers of the same installation share: GitHub counts rate limits and scopes ETags by installation. */
const createInstallation = (clock: Clock) => ({
  tokens: createTokenCache(clock),
  rateLimiter: createRateLimiter(clock),
  /** Bodies by request: GitHub's 304 for an unchanged one does not count against the limit. */
  etagCache: createLruCache<{ readonly etag: string; readonly body: unknown }>(maxEntries),
  /** By the name of the owner. A problem is an answer too. */
  reads: {
    list: createSharedReads<Awaited<ReturnType<RunnerService['list']>>>(clock),
    newestRunner: createSharedReads<Awaited<ReturnType<RunnerService['newestRunner']>>>(clock),
    jobs: createSharedReads<readonly Job[] | Problem>(clock),
  },
});

/** Enough for 30 repositories with some runs each. */
const maxEntries = 500;

/** By `fetch` function: a process has one, except in tests. */
const installations = new WeakMap<typeof fetch, LruCache<Installation>>();
/** Those of deleted Apps and replaced keys are not kept for ever. */
const maxInstallations = 100;

export const installationOf = (app: GitHubApp, clock: Clock, send: typeof fetch, apiURL: string): Installation => {
  const byApp = installations.get(send) ?? createLruCache<Installation>(maxInstallations);
  installations.set(send, byApp);
  // Includes the key: a pool that names an App without its key must not use the token of another pool.
  const fingerprint = createHash('sha256').update(app.privateKey.reveal()).digest('hex');
  const key = [apiURL, app.appID, app.installationID, fingerprint].join(' ');
  const installation = byApp.get(key) ?? createInstallation(clock);
  byApp.set(key, installation);
  return installation;
};
