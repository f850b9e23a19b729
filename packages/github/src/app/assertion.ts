import { createPrivateKey, sign } from 'node:crypto';
import type { GitHubApp } from '../runner-service.ts';

/** In the past, since clocks differ ("Generating a JSON Web Token for a GitHub App"). */
const backdated = 60;
/** GitHub takes ten minutes at most, counted by its own clock. */
const lifetime = 9 * 60;

const encode = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/**
 * What an App proves itself with. Signed here and not by `@octokit/auth-app`, which goes by the system's clock and keeps requests for
 * tokens that are under way by the number of the installation alone: a pool with the wrong App would be handed the token of the right one.
 */
export const assertionOf = ({ appID, privateKey }: GitHubApp, now: number): string => {
  const seconds = Math.floor(now / 1000);
  const head = encode({ alg: 'RS256', typ: 'JWT' });
  const claims = encode({ iss: appID, iat: seconds - backdated, exp: seconds + lifetime });
  const signed = `${head}.${claims}`;
  const signature = sign('RSA-SHA256', Buffer.from(signed), createPrivateKey(privateKey.reveal()));
  return `${signed}.${signature.toString('base64url')}`;
};
