import { timingSafeEqual } from 'node:crypto';
import type { Api } from '../api/api.ts';
import { isObject, type KubeObject } from '../object.ts';
import type { User } from './user.ts';

const format = /^([a-z0-9]{6})\.([a-z0-9]{16})$/;
const groupFormat = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/;
const rfc3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;

const valueOf = (secret: KubeObject, key: string): string => {
  const data = isObject(secret['data']) ? secret['data'][key] : undefined;
  return typeof data === 'string' ? Buffer.from(data, 'base64').toString() : '';
};

/** Takes as long for a near miss as for a far one. */
const same = (a: string, b: string): boolean => {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
};

/** A time that cannot be read counts as passed. */
const expired = (expiration: string, now: number): boolean =>
  expiration !== '' && !(rfc3339.test(expiration) && Date.parse(expiration) > now);

/** The groups, or undefined if one of them is none that a bootstrap token may have. */
const bootstrapGroups = (extra: string): string[] | undefined => {
  const groups = extra === '' ? [] : extra.split(',');
  if (!groups.every((group) => groupFormat.test(group))) return undefined;
  return [...new Set(['system:bootstrappers', ...groups])].sort();
};

/** Who holds this bootstrap token; undefined when it is none, or none that counts. */
export const bootstrapUser = (token: string, api: Api): User | undefined => {
  const [, id, secretPart] = format.exec(token) ?? [];
  const secrets = api.find('', 'secrets');
  if (id === undefined || secretPart === undefined || !secrets) return undefined;
  const secret = api.get(secrets, 'kube-system', `bootstrap-token-${id}`);
  if (!secret || secret.metadata.deletionTimestamp !== undefined) return undefined;
  if (secret['type'] !== 'bootstrap.kubernetes.io/token') return undefined;
  if (!same(valueOf(secret, 'token-secret'), secretPart)) return undefined;
  if (valueOf(secret, 'token-id') !== id) return undefined;
  if (expired(valueOf(secret, 'expiration'), api.clock.now())) return undefined;
  if (valueOf(secret, 'usage-bootstrap-authentication') !== 'true') return undefined;
  const groups = bootstrapGroups(valueOf(secret, 'auth-extra-groups'));
  return groups && { name: `system:bootstrap:${id}`, groups };
};
