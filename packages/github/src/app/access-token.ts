import { createPrivateKey, sign } from 'node:crypto';
import { createSecret, type Secret } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { exchange, type ExchangeOptions, parseBody } from '../http/exchange.ts';
import { operations } from '../http/operations.ts';
import { tokenResponse } from '../http/responses.ts';
import {
  installationSuspended,
  invalidAppCredentials,
  isProblem,
  noInstallation,
  refusedRequest,
} from '../problems.ts';
import type { GitHubApp, Problem } from '../runner-service.ts';

/** In the past, since clocks differ ("Generating a JSON Web Token for a GitHub App"). */
const backdatedSeconds = 60;
/** GitHub takes ten minutes at most, counted by its own clock. */
const lifetimeSeconds = 9 * 60;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** What an App authenticates itself with. */
const signJWT = ({ appID, privateKey }: GitHubApp, now: number): string => {
  const seconds = Math.floor(now / 1000);
  const head = encode({ alg: 'RS256', typ: 'JWT' });
  const claims = encode({ iss: appID, iat: seconds - backdatedSeconds, exp: seconds + lifetimeSeconds });
  const signed = `${head}.${claims}`;
  const signature = sign('RSA-SHA256', Buffer.from(signed), createPrivateKey(privateKey.reveal()));
  return `${signed}.${signature.toString('base64url')}`;
};

interface AccessToken {
  readonly token: Secret;
  /** As GitHub writes it. */
  readonly expires_at: string;
}

/** The token that an installation asks with, shared by all who do. */
export interface TokenCache {
  /** `refused`: one that GitHub did not take. Not bound to the signal of whoever asks first: others wait for the same. */
  current(make: () => Promise<AccessToken | Problem>, refused?: Secret): Promise<Secret | Problem>;
}

/** No call takes that long, so none ends with a token that has run out on its way. */
const expiryMarginMs = 5 * 60_000;
/** An App that is not let in is not let in the next second either, and each try counts. */
const deniedTTLMs = 30_000;

export const createTokenCache = (clock: Clock): TokenCache => {
  let known: AccessToken | undefined;
  let pending: Promise<Secret | Problem> | undefined;
  let denied: { readonly problem: Problem; readonly until: number } | undefined;
  const renew = async (make: () => Promise<AccessToken | Problem>): Promise<Secret | Problem> => {
    const made = await make();
    if ('kind' in made) {
      if (made.reason === 'Denied') denied = { problem: made, until: clock.now() + deniedTTLMs };
      return made;
    }
    known = made;
    return made.token;
  };
  return {
    current: async (make, refused) => {
      const isGood =
        known !== undefined && known.token !== refused && clock.now() < Date.parse(known.expires_at) - expiryMarginMs;
      if (isGood && known !== undefined) return known.token;
      if (denied !== undefined && clock.now() < denied.until) return denied.problem;
      pending ??= renew(make).finally(() => {
        pending = undefined;
      });
      return pending;
    },
  };
};

/** A new token of the installation, which is good for an hour. */
export const requestAccessToken = async (app: GitHubApp, line: ExchangeOptions): Promise<AccessToken | Problem> => {
  const what = 'let the App in';
  const token = trySignJWT(app, line.clock.now());
  if (token === undefined) return invalidAppCredentials('its private key cannot be read');
  const parameters = { installation_id: app.installationID };
  const question = { parameters, token, etag: undefined, signal: undefined };
  const heard = await exchange(operations.accessToken, what, question, line);
  if (isProblem(heard)) return heard;
  if (heard.status === 401) return invalidAppCredentials(heard.errorMessage);
  if (heard.status === 403) return installationSuspended(heard.errorMessage);
  if (heard.status === 404) return noInstallation();
  if (heard.status !== 201) return refusedRequest(what, heard.status, heard.errorMessage);
  const read = parseBody(tokenResponse, heard.body, what);
  return isProblem(read) ? read : read.value;
};

/** A key that nobody has checked may be anything. */
const trySignJWT = (app: GitHubApp, now: number): Secret | undefined => {
  try {
    return createSecret(signJWT(app, now));
  } catch {
    return undefined;
  }
};
