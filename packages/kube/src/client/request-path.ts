import { KubeError } from '../errors/kube-error.ts';
import type { KubeObject, Resource } from '../objects/object.ts';

type AnyResource = Resource<KubeObject>;
export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

export interface Target {
  namespace?: string | undefined;
  name?: string | undefined;
  subresource?: string | undefined;
}

/** `get pods default/a`, for messages. */
export const describeRequest = (verb: string, { plural, group }: AnyResource, target: Target = {}): string => {
  const { namespace, name, subresource } = target;
  const kind = `${plural}${group === '' ? '' : `.${group}`}${subresource ? `/${subresource}` : ''}`;
  const which = name ? `${namespace ? `${namespace}/` : ''}${name}` : namespace ? `in ${namespace}` : '';
  return [verb, kind, which].filter((word) => word !== '').join(' ');
};

const queryText = (query: Query): string => {
  const entries = Object.entries(query).flatMap(([key, value]) =>
    value === undefined || value === '' ? [] : [[key, String(value)]],
  );
  return entries.length === 0 ? '' : `?${new URLSearchParams(entries).toString()}`;
};

/**
 * One path segment. Rejects text that would address something else: an empty name is the whole collection, and servers treat
 * `a%2Fstatus` as a subresource.
 */
const segment = (what: string, field: string, text: string): string => {
  if (text === '' || text === '.' || text === '..' || /[/%]/.test(text)) {
    throw new KubeError('badRequest', `Cannot ${what}: "${text}" cannot be a ${field}`);
  }
  return encodeURIComponent(text);
};

const namespacePath = (what: string, resource: AnyResource, { namespace, name }: Target, creates: boolean): string => {
  if (!resource.namespaced) {
    if (!namespace) return '';
    const why = `${resource.plural} do not live in namespaces, but "${namespace}" is given`;
    throw new KubeError('badRequest', `Cannot ${what}: ${why}. Leave the namespace out`);
  }
  if (namespace) return `/namespaces/${segment(what, 'namespace', namespace)}`;
  if (name === undefined && !creates) return '';
  const why = `${resource.plural} live in namespaces, and none is given`;
  throw new KubeError('badRequest', `Cannot ${what}: ${why}. Add a namespace`);
};

const rootOf = ({ group, version }: AnyResource): string =>
  group === '' ? `/api/${version}` : `/apis/${group}/${version}`;

/** The path of an object, or of the collection if there is no name. Throws KubeError `badRequest` when kind and namespace do not match. */
export const requestPath = (
  what: string,
  resource: AnyResource,
  target: Target,
  query: Query = {},
  creates = false,
): string => {
  const { name, subresource } = target;
  const collection = `${rootOf(resource)}${namespacePath(what, resource, target, creates)}/${resource.plural}`;
  const object = name === undefined ? '' : `/${segment(what, 'name', name)}`;
  const below = subresource === undefined ? '' : `/${segment(what, 'subresource', subresource)}`;
  return `${collection}${object}${below}${queryText(query)}`;
};
