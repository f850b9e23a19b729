import { ApiError } from '../status/api-error.ts';
import type { Attributes } from './authorizer.ts';

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

/** Parts of the sentence come from the request, and somebody may look at the answer in a browser. */
const sanitised = (text: string): string => text.replace(/[&<>]/g, (character) => escapes[character] ?? '');

/** A 403 in the words of the real server: what may not be done, and what the authorizers say about it. */
export const refusal = (attributes: Attributes, reason: string): ApiError => {
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
