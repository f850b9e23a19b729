import { timingSafeEqual } from 'node:crypto';
import { unauthorized } from '../errors/api-error.ts';
import type { ApiRequest } from '../http-messages.ts';
import { isObject, type KubeObject } from '../object.ts';
import type { ClusterPki } from '../pki/pki.ts';
import type { LoopbackClient } from '../store/loopback-client.ts';
import { serviceAccountUser, type TokenResult } from './service-account-token.ts';
import { anonymous, type User } from './user.ts';

const tokenFormat = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupFormat = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

const valueOf = (secret: KubeObject, key: string): string => {
  const data = isObject(secret['data']) ? secret['data'][key] : undefined;
  return typeof data === 'string' ? Buffer.from(data, 'base64').toString() : '';
};

/** The duration does not show how similar the texts are. */
const constantTimeEqual = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** An invalid time counts as expired. */
const expired = (expiration: string, now: number): boolean =>
  expiration !== '' && !(rfc3339.test(expiration) && Date.parse(expiration) > now);

/** The groups, or undefined if a bootstrap token may not have one of them. */
const bootstrapGroups = (extra: string): string[] | undefined => {
  const groups = extra === '' ? [] : extra.split(',');
  if (!groups.every((group) => groupFormat.test(group))) return undefined;
  return [...new Set(['system:bootstrappers', ...groups])].sort();
};

/** The user of a bootstrap token; undefined when it is invalid or expired. */
const bootstrapUser = (token: string, api: LoopbackClient): User | undefined => {
  const [, id, secretPart] = tokenFormat.exec(token) ?? [];
  const secrets = api.find('', 'secrets');
  if (id === undefined || secretPart === undefined || !secrets) return undefined;
  const secret = api.get(secrets, 'kube-system', `bootstrap-token-${id}`);
  if (!secret || secret.metadata.deletionTimestamp !== undefined) return undefined;
  if (secret['type'] !== 'bootstrap.kubernetes.io/token') return undefined;
  if (!constantTimeEqual(valueOf(secret, 'token-secret'), secretPart)) return undefined;
  if (valueOf(secret, 'token-id') !== id) return undefined;
  if (expired(valueOf(secret, 'expiration'), api.clock.now())) return undefined;
  if (valueOf(secret, 'usage-bootstrap-authentication') !== 'true') return undefined;
  const groups = bootstrapGroups(valueOf(secret, 'auth-extra-groups'));
  return groups && { name: `system:bootstrap:${id}`, groups };
};

const authenticated = 'system:authenticated';

const withAuthenticated = (user: User): User =>
  user.groups.includes(authenticated) ? user : { ...user, groups: [...user.groups, authenticated] };

/** The user of a bearer token, if the token is meant for one of `audiences`. */
export const authenticateToken = async (
  token: string,
  audiences: readonly string[],
  api: LoopbackClient,
  identity: ClusterPki,
): Promise<TokenResult> => {
  const bootstrap = audiences.includes(identity.issuer) ? bootstrapUser(token, api) : undefined;
  if (bootstrap) return { user: withAuthenticated(bootstrap), audiences: [identity.issuer] };
  const verdict = await serviceAccountUser(token, audiences, api, identity);
  return 'user' in verdict ? { ...verdict, user: withAuthenticated(verdict.user) } : verdict;
};

/** As in the real server: the scheme in any case, and anything after the token is ignored. Other schemes are no credentials. */
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

/**
 * The user who sends a request. A certificate takes precedence over a token. No credentials: anonymous; bad ones: a 401 without details.
 */
export const authenticate = async (request: ApiRequest, api: LoopbackClient, identity: ClusterPki): Promise<User> => {
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
