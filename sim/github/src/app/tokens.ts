import type { Clock, Random } from '@tartan/kube/clock';
import type { Installation } from './installation.ts';
import type { Permissions } from './permissions.ts';

const hour = 3_600_000;

export interface AccessToken {
  readonly token: string;
  readonly installation: Installation;
  readonly permissions: Permissions;
  expiresAt: number;
}

/** Given to whoever is to add a runner to one account or repository, or to take it away. */
interface RunnerToken {
  readonly token: string;
  readonly owner: string;
  readonly use: 'register' | 'remove';
  readonly expiresAt: number;
}

export interface Tokens {
  grant(installation: Installation, permissions: Permissions): AccessToken;
  granted(token: string): AccessToken | undefined;
  forRunner(owner: string, use: RunnerToken['use']): RunnerToken;
  runnerToken(token: string, use: RunnerToken['use']): RunnerToken | undefined;
  /** As if somebody had revoked them all. */
  expire(): void;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz';

export const secretText = (random: Random, length: number): string =>
  Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');

export const createTokens = (clock: Clock, random: Random, appID: number): Tokens => {
  const access = new Map<string, AccessToken>();
  const runner = new Map<string, RunnerToken>();
  return {
    grant: (installation, permissions) => {
      // Since April 2026 `ghs_APPID_JWT`, and not 40 characters any more ("Generating an installation access token").
      const token = `ghs_${appID}_${secretText(random, 180)}`;
      const made = { token, installation, permissions, expiresAt: clock.now() + hour };
      access.set(token, made);
      return made;
    },
    granted: (token) => {
      const found = access.get(token);
      return found !== undefined && clock.now() < found.expiresAt ? found : undefined;
    },
    forRunner: (owner, use) => {
      // "The token expires after one hour" (REST API, "Self-hosted runners").
      const made = { token: secretText(random, 29).toUpperCase(), owner, use, expiresAt: clock.now() + hour };
      runner.set(made.token, made);
      return made;
    },
    runnerToken: (token, use) => {
      const found = runner.get(token);
      return found?.use === use && clock.now() < found.expiresAt ? found : undefined;
    },
    expire: () => access.clear(),
  };
};
