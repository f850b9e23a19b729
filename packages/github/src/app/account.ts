import { createHash } from 'node:crypto';
import type { Clock } from '@tartan/kube/clock';
import { createKeptAnswers, type KeptAnswers } from '../http/kept-answers.ts';
import { type Allowance, createAllowance } from '../limits/allowance.ts';
import type { GitHubApp } from '../runner-service.ts';
import { createTokens, type Tokens } from './tokens.ts';

/** What all who ask as the same installation have in common: GitHub counts and tags by it. */
export interface Account {
  readonly tokens: Tokens;
  readonly allowance: Allowance;
  readonly kept: KeptAnswers;
}

/** By the clock and the way to GitHub first: there is one of each in a process, but for tests. */
const accounts = new WeakMap<Clock, WeakMap<typeof fetch, Map<string, Account>>>();

export const accountOf = (app: GitHubApp, clock: Clock, send: typeof fetch, apiURL: string): Account => {
  const byWay = accounts.get(clock) ?? new WeakMap<typeof fetch, Map<string, Account>>();
  accounts.set(clock, byWay);
  const byApp = byWay.get(send) ?? new Map<string, Account>();
  byWay.set(send, byApp);
  // With the key: whoever names an App without having its key must not ask with a token that somebody else was given.
  const fingerprint = createHash('sha256').update(app.privateKey.reveal()).digest('hex');
  const key = [apiURL, app.appID, app.installationID, fingerprint].join(' ');
  const account = byApp.get(key) ?? {
    tokens: createTokens(clock),
    allowance: createAllowance(clock),
    kept: createKeptAnswers(),
  };
  byApp.set(key, account);
  return account;
};
