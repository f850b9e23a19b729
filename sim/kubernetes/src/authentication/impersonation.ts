import type { Attributes, Authorizer } from '../authorization/authorizer.ts';
import { forbiddenError } from '../authorization/request-attributes.ts';
import { type ApiError, badRequest } from '../errors/api-error.ts';
import { dnsSubdomain } from '../registry/validation/names.ts';
import { serviceAccountGroups } from './service-account-token.ts';
import { masters, nodesGroup, type User } from './user.ts';

type Headers = Readonly<Record<string, string>>;
type Target = Pick<Attributes, 'group' | 'resource' | 'subresource' | 'namespace' | 'name'>;

/** The user in the headers, without any defaults. */
interface RequestedUser {
  name: string;
  uid: string;
  groups: readonly string[];
  extra: Record<string, string[]>;
}

const extraPrefix = 'impersonate-extra-';

/** Node joins repeated headers. */
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

/** Go's `%#v`, which the real server uses in this refusal. */
const goStrings = (list: readonly string[]): string =>
  list.length === 0 ? '[]string(nil)' : `[]string{${list.map((entry) => JSON.stringify(entry)).join(', ')}}`;

const missingUserName = (uid: string, groups: readonly string[], extra: Record<string, string[]>): ApiError => {
  const entries = Object.entries(extra).map(([key, list]) => `${JSON.stringify(key)}:${goStrings(list)}`);
  const map = entries.length === 0 ? 'map[string][]string(nil)' : `map[string][]string{${entries.join(', ')}}`;
  const info = `&user.DefaultInfo{Name:"", UID:${JSON.stringify(uid)}, Groups:${goStrings(groups)}, Extra:${map}}`;
  return badRequest(`requested ${info} without impersonating a user name`);
};

/** An anonymous user stays unauthenticated; all others count as authenticated, unless the groups say otherwise. */
const impersonatedGroups = (name: string, groups: readonly string[]): string[] => {
  const [authenticated, unauthenticated] = ['system:authenticated', 'system:unauthenticated'];
  if (groups.includes(unauthenticated)) return [...groups];
  if (name === 'system:anonymous') return [...groups, unauthenticated];
  return groups.includes(authenticated) ? [...groups] : [...groups, authenticated];
};

const requestedUser = (headers: Headers): RequestedUser | undefined => {
  const name = headers['impersonate-user'] ?? '';
  const groups = values(headers['impersonate-group']);
  const uid = headers['impersonate-uid'] ?? '';
  const extra = extraOf(headers);
  if (name !== '') return { name, groups, uid, extra };
  if (groups.length === 0 && uid === '' && Object.keys(extra).length === 0) return undefined;
  throw missingUserName(uid, groups, extra);
};

const nodeIn = ({ name }: RequestedUser): string | undefined => {
  const node = name.startsWith('system:node:') ? name.slice('system:node:'.length) : undefined;
  return node !== undefined && dnsSubdomain(node).length === 0 ? node : undefined;
};

const onlyName = ({ uid, groups, extra }: RequestedUser): boolean =>
  uid === '' && groups.length === 0 && Object.keys(extra).length === 0;

const accountIn = ({ name }: RequestedUser): { namespace: string; account: string } | undefined => {
  const [, namespace, account] = serviceAccountFormat.exec(name) ?? [];
  return namespace !== undefined && account !== undefined ? { namespace, account } : undefined;
};

/**
 * A kind of impersonation. All but the last are constrained: they require the right to impersonate such users, and the right to do this
 * action as one of them.
 */
interface Mode {
  /** '' for legacy impersonation: one right, then no limit on actions. */
  name: string;
  fits(wanted: RequestedUser, requester: User): boolean;
}

const associatedNode = 'authentication.kubernetes.io/node-name';

const modes: readonly Mode[] = [
  {
    name: 'associated-node',
    fits: (wanted, { name, extra = {} }) =>
      onlyName(wanted) &&
      nodeIn(wanted) !== undefined &&
      serviceAccountFormat.test(name) &&
      extra[associatedNode]?.length === 1 &&
      extra[associatedNode][0] === nodeIn(wanted),
  },
  { name: 'arbitrary-node', fits: (wanted) => onlyName(wanted) && nodeIn(wanted) !== undefined },
  { name: 'serviceaccount', fits: (wanted) => onlyName(wanted) && accountIn(wanted) !== undefined },
  { name: 'user-info', fits: (wanted) => nodeIn(wanted) === undefined && accountIn(wanted) === undefined },
  { name: '', fits: () => true },
];

const authentication = 'authentication.k8s.io';

/** Everything that the requester needs the right to impersonate. */
const targets = (wanted: RequestedUser, mode: Mode): Target[] => {
  const group = mode.name === '' ? '' : authentication;
  const plain = { group, subresource: '', namespace: '' };
  const node = mode.name === '' ? undefined : nodeIn(wanted);
  const owner = accountIn(wanted);
  const named = mode.name === 'associated-node' ? '*' : (node ?? wanted.name);
  return [
    owner
      ? { ...plain, resource: 'serviceaccounts', namespace: owner.namespace, name: owner.account }
      : { ...plain, resource: node === undefined ? 'users' : 'nodes', name: named },
    ...(wanted.uid ? [{ ...plain, group: authentication, resource: 'uids', name: wanted.uid }] : []),
    ...wanted.groups.map((name) => ({ ...plain, resource: 'groups', name })),
    ...Object.entries(wanted.extra).flatMap(([subresource, list]) =>
      list.map((name) => ({ ...plain, group: authentication, resource: 'userextras', subresource, name })),
    ),
  ];
};

/** Constrained impersonation never gives access to an administrator. */
const assertNarrow = (wanted: RequestedUser, asked: Attributes): void => {
  const groups = { ...asked, resource: 'groups', subresource: '' };
  if (wanted.groups.includes('')) throw forbiddenError(groups, 'impersonating the empty string group is not allowed');
  if (wanted.groups.includes(masters))
    throw forbiddenError({ ...groups, name: masters }, 'impersonating the system:masters group is not allowed');
};

const groupsIn = (wanted: RequestedUser, mode: Mode): readonly string[] => {
  if (mode.name !== '' && nodeIn(wanted) !== undefined) return [nodesGroup];
  const owner = accountIn(wanted);
  return wanted.groups.length === 0 && owner ? serviceAccountGroups(owner.namespace) : wanted.groups;
};

const actAs = (wanted: RequestedUser, mode: Mode, request: Attributes, authorize: Authorizer): User => {
  const assertAllowed = (attributes: Attributes): void => {
    const verdict = authorize(attributes);
    if (!verdict.allowed) throw forbiddenError(attributes, verdict.reason);
  };
  const narrow = mode.name !== '';
  if (narrow) assertAllowed({ ...request, verb: `impersonate-on:${mode.name}:${request.verb}` });
  const verb = narrow ? `impersonate:${mode.name}` : 'impersonate';
  for (const target of targets(wanted, mode)) {
    const asked = { user: request.user, verb, version: 'v1', fieldSelector: '', labelSelector: '', ...target };
    if (narrow && target.resource === 'groups') assertNarrow(wanted, asked);
    assertAllowed(asked);
  }
  const { name, uid, extra } = wanted;
  return {
    name,
    groups: impersonatedGroups(name, groupsIn(wanted, mode)),
    ...(uid === '' ? {} : { uid }),
    ...(Object.keys(extra).length === 0 ? {} : { extra }),
  };
};

const rememberedRequesters = 1_000;

export type Impersonate = (request: Attributes, headers: Headers) => User;

/**
 * The user that the headers of a request ask for, or the requester if they ask for none. The mode that worked for a requester before is
 * tried first. If every mode fails, the first refusal is the answer.
 */
export const impersonation = (authorize: Authorizer): Impersonate => {
  const worked = new Map<string, Mode>();
  return (request, headers) => {
    const wanted = requestedUser(headers);
    if (!wanted) return request.user;
    const last = worked.get(request.user.name);
    const order = last ? [last, ...modes.filter((mode) => mode !== last)] : modes;
    const refusals: unknown[] = [];
    for (const mode of order.filter(({ fits }) => fits(wanted, request.user))) {
      try {
        const user = actAs(wanted, mode, request, authorize);
        if (worked.size >= rememberedRequesters) worked.clear();
        worked.set(request.user.name, mode);
        return user;
      } catch (error) {
        refusals.push(error);
      }
    }
    throw refusals[0];
  };
};
