import type { Api } from '../api/api.ts';
import type { ApiRequest } from '../exchange/exchange.ts';
import { unauthorized } from '../status/api-error.ts';
import { bootstrapUser } from './bootstrap-token.ts';
import type { Identity } from './identity.ts';
import { serviceAccountUser, type TokenVerdict } from './service-account-token.ts';
import { anonymous, type User } from './user.ts';

const authenticated = 'system:authenticated';

const withAuthenticated = (user: User): User =>
  user.groups.includes(authenticated) ? user : { ...user, groups: [...user.groups, authenticated] };

/** Who a bearer token stands for, if it is meant for one of `audiences`. */
export const authenticateToken = async (
  token: string,
  audiences: readonly string[],
  api: Api,
  identity: Identity,
): Promise<TokenVerdict> => {
  const bootstrap = audiences.includes(identity.issuer) ? bootstrapUser(token, api) : undefined;
  if (bootstrap) return { user: withAuthenticated(bootstrap), audiences: [identity.issuer] };
  const verdict = await serviceAccountUser(token, audiences, api, identity);
  return 'user' in verdict ? { ...verdict, user: withAuthenticated(verdict.user) } : verdict;
};

/** As the real server splits it: the scheme in any case, and nothing behind the token counts. Other schemes are no credentials. */
const bearerToken = (header: string | undefined): string | undefined => {
  const [scheme, token] = (header ?? '').trim().split(' ');
  return scheme?.toLowerCase() === 'bearer' && token ? token : undefined;
};

const certificateUser = (certificate: ApiRequest['certificate']): User | undefined => {
  if (!certificate || certificate.commonName === '') return undefined;
  const { commonName, organizations, fingerprint } = certificate;
  return {
    name: commonName,
    groups: organizations,
    ...(fingerprint ? { extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${fingerprint}`] } } : {}),
  };
};

/** Who sends this request. A certificate goes before a token; no credentials make an anonymous user, bad ones a 401 that says nothing more. */
export const authenticate = async (request: ApiRequest, api: Api, identity: Identity): Promise<User> => {
  const known = certificateUser(request.certificate);
  if (known) return withAuthenticated(known);
  const token = bearerToken(request.headers['authorization']);
  if (token !== undefined) {
    const verdict = await authenticateToken(token, [identity.issuer], api, identity);
    if ('user' in verdict) return verdict.user;
    throw unauthorized();
  }
  if (request.untrustedCertificate) throw unauthorized();
  return anonymous;
};
