import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { Clock, Random } from '@tartan/kube/clock';
import { parseBody } from '../api/handler.ts';
import type { Installation, Permissions } from './installation.ts';

/** The identity of an App. */
export interface AppIdentity {
  readonly id: number;
  readonly clientID: string;
  readonly publicKey: KeyObject;
}

const maxLifetimeSeconds = 600;

const decodePart = (text: string): Readonly<Record<string, unknown>> | undefined =>
  parseBody(Buffer.from(text, 'base64url').toString());

/** Why this JSON web token is invalid; undefined: it is valid. `now`: seconds. ("Generating a JSON Web Token for a GitHub App") */
export const jwtError = (app: AppIdentity, token: string, now: number): string | undefined => {
  const [head = '', claims = '', signature = '', ...more] = token.split('.');
  const undecoded = 'A JSON web token could not be decoded';
  if (more.length > 0 || decodePart(head)?.['alg'] !== 'RS256') return undecoded;
  const signed = Buffer.from(`${head}.${claims}`);
  if (!verify('RSA-SHA256', signed, app.publicKey, Buffer.from(signature, 'base64url'))) return undecoded;
  const { iat, exp, iss } = decodePart(claims) ?? {};
  // The client ID is recommended; the number still works, as a number or as text.
  if (String(iss) !== String(app.id) && iss !== app.clientID) return 'Integration not found';
  // GitHub refuses even one second in the future (`octomachinery#75`), so it recommends 60 s in the past.
  if (!Number.isInteger(iat) || (iat as number) > now) {
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  }
  if (!Number.isInteger(exp) || (exp as number) <= now) {
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  }
  // Counted from now, not from `iat` (`octocrab#207`).
  if ((exp as number) > now + maxLifetimeSeconds) return "'Expiration time' claim ('exp') is too far in the future";
  return undefined;
};

export const publicKeyOf = (privateKey: string): KeyObject => createPublicKey(privateKey);

const hour = 3_600_000;

export interface AccessToken {
  readonly token: string;
  readonly installation: Installation;
  readonly permissions: Permissions;
  expiresAt: number;
}

/** A token to add or remove runners of one account or repository. */
interface RunnerToken {
  readonly token: string;
  readonly owner: string;
  readonly use: 'register' | 'remove';
  readonly expiresAt: number;
}

export interface Tokens {
  grant(installation: Installation, permissions: Permissions): AccessToken;
  accessToken(token: string): AccessToken | undefined;
  createRunnerToken(owner: string, use: RunnerToken['use']): RunnerToken;
  runnerToken(token: string, use: RunnerToken['use']): RunnerToken | undefined;
  /** Revokes all tokens. */
  expire(): void;
}

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789abcdefghijklmnopqrstuvwxyz';

export const randomText = (random: Random, length: number): string =>
  Array.from({ length }, () => letters[Math.floor(random() * letters.length)]).join('');

export const createTokens = (clock: Clock, random: Random, appID: number): Tokens => {
  const access = new Map<string, AccessToken>();
  const runner = new Map<string, RunnerToken>();
  return {
    grant: (installation, permissions) => {
      // Since April 2026 `ghs_APPID_JWT`, no longer 40 characters ("Generating an installation access token").
      const token = `ghs_${appID}_${randomText(random, 180)}`;
      const made = { token, installation, permissions, expiresAt: clock.now() + hour };
      access.set(token, made);
      return made;
    },
    accessToken: (token) => {
      const found = access.get(token);
      return found !== undefined && clock.now() < found.expiresAt ? found : undefined;
    },
    createRunnerToken: (owner, use) => {
      // "The token expires after one hour" (REST API, "Self-hosted runners").
      const made = { token: randomText(random, 29).toUpperCase(), owner, use, expiresAt: clock.now() + hour };
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
