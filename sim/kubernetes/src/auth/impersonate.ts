import { ApiError, badRequest } from '../status/api-error.ts';
import type { Attributes, Authorizer } from './authorizer.ts';
import { serviceAccountGroups } from './service-account-token.ts';
import type { User } from './user.ts';

type Headers = Readonly<Record<string, string>>;
type Target = Pick<Attributes, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>;

const extraPrefix = 'impersonate-extra-';

/** Repeated headers arrive joined, as everywhere in HTTP. */
const values = (header: string | undefined): string[] =>
  header === undefined || header === '' ? [] : header.split(', ');

const unescaped = (key: string): string => {
  try {
    return decodeURIComponent(key);
  } catch {
    return key;
  }
};

const extraOf = (headers: Headers): Record<string, string[]> =>
  Object.fromEntries(
    Object.entries(headers)
      .filter(([name]) => name.startsWith(extraPrefix))
      .map(([name, value]) => [unescaped(name.slice(extraPrefix.length)), values(value)]),
  );

const serviceAccountFormat = /^system:serviceaccount:([^:]+):([^:]+)$/;

/** Go's `%#v`, in which the real server words this refusal. */
const goStrings = (list: readonly string[]): string =>
  list.length === 0 ? '[]string(nil)' : `[]string{${list.map((entry) => JSON.stringify(entry)).join(', ')}}`;

const nobody = (uid: string, groups: readonly string[], extra: Record<string, string[]>): ApiError => {
  const entries = Object.entries(extra).map(([key, list]) => `${JSON.stringify(key)}:${goStrings(list)}`);
  const map = entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  const info = `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${goStrings(groups)}, Extra:${map}}`;
  return badRequest(`requested ${info} without impersonating a user name`);
};

/** An anonymous user stays one; everybody else has been authenticated, unless the groups say otherwise. */
const impersonatedGroups = (name: string, groups: readonly string[]): string[] => {
  const [authenticated, unauthenticated] = ['system:authenticated', 'system:unauthenticated'];
  if (groups.includes(unauthenticated)) return [...groups];
  if (name === 'system:anonymous') return [...groups, unauthenticated];
  return groups.includes(authenticated) ? [...groups] : [...groups, authenticated];
};

const target = (resource: string, name: string, rest: Partial<Target> = {}): Target => ({
  group: '',
  resource,
  subresource: '',
  namespace: '',
  name,
  ...rest,
});

/** Everything that the requester must be allowed to take on. */
const targets = (wanted: User, asked: { groups: readonly string[] }): Target[] => {
  const [, namespace, account] = serviceAccountFormat.exec(wanted.name) ?? [];
  const authentication = 'authentication.k8s.io';
  return [
    namespace !== undefined && account !== undefined
      ? target('serviceaccounts', account, { namespace })
      : target('users', wanted.name),
    ...asked.groups.map((group) => target('groups', group)),
    ...Object.entries(wanted.extra ?? {}).flatMap(([subresource, list]) =>
      list.map((value) => target('userextras', value, { group: authentication, subresource })),
    ),
    ...(wanted.uid ? [target('uids', wanted.uid, { group: authentication })] : []),
  ];
};

const refusal = (user: User, { group, resource, subresource, namespace, name }: Target, reason: string): ApiError => {
  const qualified = group === '' ? resource : `${resource}.${group}`;
  const full = subresource === '' ? resource : `${resource}/${subresource}`;
  const scope = namespace === '' ? 'at the cluster scope' : `in the namespace "${namespace}"`;
  const why = `User "${user.name}" cannot impersonate resource "${full}" in API group "${group}" ${scope}`;
  return new ApiError(
    403,
    'Forbidden',
    `${qualified} "${name}" is forbidden: ${why}${reason === '' ? '' : `: ${reason}`}`,
    {
      name,
      ...(group === '' ? {} : { group }),
      kind: resource,
    },
  );
};

/** The user that the headers ask for, or the requester if they ask for none. */
export const impersonate = (requester: User, headers: Headers, authorize: Authorizer): User => {
  const name = headers['impersonate-user'] ?? '';
  const groups = values(headers['impersonate-group']);
  const uid = headers['impersonate-uid'] ?? '';
  const extra = extraOf(headers);
  if (name === '') {
    if (groups.length === 0 && uid === '' && Object.keys(extra).length === 0) return requester;
    throw nobody(uid, groups, extra);
  }
  const [, namespace] = serviceAccountFormat.exec(name) ?? [];
  const implied = groups.length === 0 && namespace !== undefined ? serviceAccountGroups(namespace) : groups;
  const wanted: User = {
    name,
    groups: impersonatedGroups(name, implied),
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
  for (const each of targets(wanted, { groups })) {
    const verdict = authorize({
      user: requester,
      verb: 'impersonate',
      version: 'v1',
      fieldSelector: '',
      labelSelector: '',
      ...each,
    });
    if (!verdict.allowed) throw refusal(requester, each, verdict.reason);
  }
  return wanted;
};
