import type { Clock } from '@tartan/kube/clock';

const hour = 3_600_000;

interface Window {
  began: number;
  used: number;
  blocked: { until: number; status: 403 | 429; tells: boolean } | undefined;
}

/** Requests per hour of each installation (REST API, "Primary rate limit for GitHub App installations"), and secondary limits. */
export interface RateLimit {
  headers(who: string): Record<string, string>;
  figures(who: string): { limit: number; used: number; remaining: number; reset: number };
  isOver(who: string): boolean;
  spend(who: string): void;
  /** Uses up the remaining calls until the window ends. */
  exhaust(who: string): void;
  /** A secondary limit: refuses all calls for so long. `tells`: the answers say how long. */
  block(who: string, seconds: number, status: 403 | 429, tells: boolean): void;
  blocked(who: string): { status: 403 | 429; retryAfter: number | undefined } | undefined;
}

export const createRateLimit = (clock: Clock, quota: number): RateLimit => {
  const windows = new Map<string, Window>();
  const windowOf = (who: string): Window => {
    const found = windows.get(who);
    if (found !== undefined && clock.now() - found.began < hour) return found;
    const fresh = { began: clock.now(), used: 0, blocked: found?.blocked };
    windows.set(who, fresh);
    return fresh;
  };
  const figures: RateLimit['figures'] = (who) => {
    const { began, used } = windowOf(who);
    return { limit: quota, used, remaining: Math.max(0, quota - used), reset: Math.ceil((began + hour) / 1000) };
  };
  return {
    figures,
    headers: (who) => {
      const { limit, used, remaining, reset } = figures(who);
      return {
        'x-ratelimit-limit': String(limit),
        'x-ratelimit-used': String(used),
        'x-ratelimit-remaining': String(remaining),
        'x-ratelimit-reset': String(reset),
        'x-ratelimit-resource': 'core',
      };
    },
    isOver: (who) => windowOf(who).used >= quota,
    spend: (who) => {
      windowOf(who).used += 1;
    },
    exhaust: (who) => {
      windowOf(who).used = quota;
    },
    block: (who, seconds, status, tells) => {
      windowOf(who).blocked = { until: clock.now() + seconds * 1000, status, tells };
    },
    blocked: (who) => {
      const { blocked } = windowOf(who);
      if (blocked === undefined || blocked.until <= clock.now()) return undefined;
      const left = Math.ceil((blocked.until - clock.now()) / 1000);
      return { status: blocked.status, retryAfter: blocked.tells ? left : undefined };
    },
  };
};
