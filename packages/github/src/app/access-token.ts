import { createPrivateKey, sign } from 'node:crypto';
import { createSecret, type Secret } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { z } from 'zod';
import { exchange, type ExchangeOptions, parseBody } from '../http/exchange.ts';
import { operations } from '../http/operations.ts';
import { tokenResponse } from '../http/responses.ts';
import {
  installationSuspended,
  invalidAppCredentials,
  noInstallation,
  ProblemError,
  refusedRequest,
} from '../problems.ts';
import type { GitHubApp } from '../runner-service.ts';

/** Backdated, since clocks differ ("Generating a JSON Web Token for a GitHub App"). */
const backdatedSeconds = 60;
/** GitHub accepts ten minutes at most, by its own clock. */
const lifetimeSeconds = 9 * 60;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

const signJWT = ({ appID, privateKey }: GitHubApp, now: number): string => {
  const seconds = Math.floor(now / 1000);
  const head = encode({ alg: 'RS256', typ: 'JWT' });
  const claims = encode({ iss: appID, iat: seconds - backdatedSeconds, exp: seconds + lifetimeSeconds });
  const signed = `${head}.${claims}`;
  const signature = sign('RSA-SHA256', Buffer.from(signed), createPrivateKey(privateKey.reveal()));
  return `${signed}.${signature.toString('base64url')}`;
};

type AccessToken = z.output<typeof tokenResponse>;

/** No call takes that long, so a token never expires during a call. */
const expiryMarginMs = 5 * 60_000;
/** GitHub will deny the App again for a while, and each attempt counts against its limit. */
const deniedTTLMs = 30_000;

/** The token of an installation, shared by all its callers. */
export const createTokenCache = (clock: Clock) => {
  let known: AccessToken | undefined;
  let pending: Promise<Secret> | undefined;
  let denied: { readonly error: ProblemError; readonly until: number } | undefined;
  const renew = async (make: () => Promise<AccessToken>): Promise<Secret> => {
    try {
      known = await make();
      return known.token;
    } catch (error) {
      if (error instanceof ProblemError && error.problem.reason === 'Denied')
        denied = { error, until: clock.now() + deniedTTLMs };
      throw error;
    }
  };
  return {
    /** `refused`: a token that GitHub did not accept. Takes no signal: other callers wait for the same request. */
    current: async (make: () => Promise<AccessToken>, refused?: Secret): Promise<Secret> => {
      const isGood =
        known !== undefined && known.token !== refused && clock.now() < Date.parse(known.expires_at) - expiryMarginMs;
      if (isGood && known !== undefined) return known.token;
      if (denied !== undefined && clock.now() < denied.until) throw denied.error;
      pending ??= renew(make).finally(() => {
        pending = undefined;
      });
      return pending;
    },
  };
};

/** A new token of the installation, valid for an hour. */
export const requestAccessToken = async (app: GitHubApp, options: ExchangeOptions): Promise<AccessToken> => {
  const what = 'let the App in';
  const token = trySignJWT(app, options.clock.now());
  if (token === undefined) throw invalidAppCredentials('its private key cannot be read');
  const request = {
    parameters: { installation_id: app.installationID },
    token,
    etag: undefined,
    signal: undefined,
  };
  const { status, body, errorMessage } = await exchange(operations.accessToken, what, request, options);
  if (status === 201) return parseBody(tokenResponse, body, what);
  if (status === 401) throw invalidAppCredentials(errorMessage);
  if (status === 403) throw installationSuspended(errorMessage);
  if (status === 404) throw noInstallation();
  throw refusedRequest(what, status, errorMessage);
};

/** Undefined: the key is invalid. */
const trySignJWT = (app: GitHubApp, now: number): Secret | undefined => {
  try {
    return createSecret(signJWT(app, now));
  } catch {
    return undefined;
  }
};
