import type { ApiRequest } from '../exchange/exchange.ts';
import type { Route } from '../requests/route.ts';
import { parseFieldSelector } from '../selectors/fields.ts';
import type { Attributes } from './authorizer.ts';
import type { User } from './user.ts';

const yes = (value: string | null): boolean => value !== null && !['', 'false', '0'].includes(value);

/** What a request wants to do, in the words of authorization. */
export const verbOf = (request: ApiRequest, route: Route): string => {
  const named = route.name !== '';
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      if (yes(request.query.get('watch')) && route.subresource === '') return 'watch';
      return named ? 'get' : 'list';
    case 'POST':
      return 'create';
    case 'PUT':
      return 'update';
    case 'PATCH':
      return 'patch';
    case 'DELETE':
      return named ? 'delete' : 'deletecollection';
    default:
      return request.method.toLowerCase();
  }
};

/** A list or watch of one name asks about that name, so that a right to single names is enough for it. */
const selectedName = (verb: string, fieldSelector: string): string => {
  if (fieldSelector === '' || (verb !== 'list' && verb !== 'watch')) return '';
  try {
    const names = parseFieldSelector(fieldSelector).filter(({ field }) => field === 'metadata.name');
    return names.find(({ operator }) => operator === '=')?.value ?? '';
  } catch {
    // The list itself will say what is wrong with it.
    return '';
  }
};

/** A namespace lies in itself: a role in it may grant rights on it. */
const namespaceOf = ({ namespace, plural, name }: Route): string =>
  namespace === '' && plural === 'namespaces' ? name : namespace;

export const attributesOf = (request: ApiRequest, route: Route | undefined, user: User): Attributes => {
  const none = { group: '', version: '', resource: '', subresource: '', namespace: '', name: '' };
  const selectors = { fieldSelector: '', labelSelector: '' };
  if (!route) return { user, verb: request.method.toLowerCase(), nonResourcePath: request.path, ...none, ...selectors };
  const verb = verbOf(request, route);
  const fieldSelector = request.query.get('fieldSelector') ?? '';
  return {
    user,
    verb,
    group: route.group,
    version: route.version,
    resource: route.plural,
    subresource: route.subresource,
    namespace: namespaceOf(route),
    name: route.name || selectedName(verb, fieldSelector),
    fieldSelector,
    labelSelector: request.query.get('labelSelector') ?? '',
  };
};
