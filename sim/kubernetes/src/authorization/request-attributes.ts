import type { User } from '../authentication/user.ts';
import type { RequestInfo } from '../endpoints/request-info.ts';
import { ApiError } from '../errors/api-error.ts';
import type { ApiRequest } from '../http-messages.ts';
import { parseFieldSelector } from '../selectors/field-selector.ts';
import type { Attributes } from './authorizer.ts';

const isTrue = (value: string | null): boolean => value !== null && !['', 'false', '0'].includes(value);

/** The authorization verb of a request. */
export const verbOf = (request: ApiRequest, route: RequestInfo): string => {
  const named = route.name !== '';
  switch (request.method) {
    case 'GET':
    case 'HEAD':
      if (isTrue(request.query.get('watch')) && route.subresource === '') return 'watch';
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

/** A list or watch with a field selector for one name is authorized like that name, so a right with resourceNames suffices. */
const selectedName = (verb: string, fieldSelector: string): string => {
  if (fieldSelector === '' || (verb !== 'list' && verb !== 'watch')) return '';
  try {
    const names = parseFieldSelector(fieldSelector).filter(({ field }) => field === 'metadata.name');
    return names.find(({ operator }) => operator === '=')?.value ?? '';
  } catch {
    // The list handler will report the error.
    return '';
  }
};

/** A Namespace counts as in itself, so a role in it may grant rights on it. */
const namespaceOf = ({ namespace, plural, name }: RequestInfo): string =>
  namespace === '' && plural === 'namespaces' ? name : namespace;

export const attributesOf = (request: ApiRequest, route: RequestInfo | undefined, user: User): Attributes => {
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

const scopeOf = ({ namespace }: Attributes): string =>
  namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;

const sentence = (attributes: Attributes): string => {
  const { user, verb, nonResourcePath, resource, subresource, group } = attributes;
  const who = `User ${JSON.stringify(user.name)} cannot ${verb}`;
  if (nonResourcePath !== undefined) return `${who} path ${JSON.stringify(nonResourcePath)}`;
  const what = subresource === '' ? resource : `${resource}/${subresource}`;
  return `${who} resource ${JSON.stringify(what)} in API group ${JSON.stringify(group)} ${scopeOf(attributes)}`;
};

const escapes: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;' };

/** Parts of the message come from the request, and a browser may display it. */
const sanitised = (text: string): string => text.replace(/[&<>]/g, (character) => escapes[character] ?? '');

/** A 403 in the words of the real server: the action, and the reasons of the authorizers. */
export const forbiddenError = (attributes: Attributes, reason: string): ApiError => {
  const { group, resource, name } = attributes;
  const subject = resource === '' ? '' : `${group === '' ? resource : `${resource}.${group}`} `;
  const what = name === '' ? `${subject === '' ? '' : `${subject}is `}forbidden` : `${subject}"${name}" is forbidden`;
  const why = `${sanitised(sentence(attributes))}${reason === '' ? '' : `: ${reason}`}`;
  return new ApiError(403, 'Forbidden', `${what}: ${why}`, {
    ...(name ? { name } : {}),
    ...(group ? { group } : {}),
    ...(resource ? { kind: resource } : {}),
  });
};
