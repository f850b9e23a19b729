import { badRequest } from '../errors/api-error.ts';

/** A path below /api or /apis that names a resource. Missing parts are empty strings. */
export interface RequestInfo {
  group: string;
  version: string;
  namespace: string;
  plural: string;
  name: string;
  subresource: string;
  /** The path after the subresource, without a leading slash. */
  rest: string;
}

/** `/api/v1/namespaces/x/status` is a subresource of the namespace, not a resource within it. */
const namespaceSubresources = ['status', 'finalize'];

const decode = (segment: string): string => {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest(`the path segment ${JSON.stringify(segment)} is not valid percent-encoding`);
  }
};

/** The resource in a path; undefined for all other paths (discovery, health, unknown). */
export const parseRequestInfo = (path: string): RequestInfo | undefined => {
  const segments = path.split('/').slice(1).map(decode);
  const [root] = segments;
  if (root !== 'api' && root !== 'apis') return undefined;
  const core = root === 'api';
  const group = core ? '' : (segments[1] ?? '');
  const version = segments[core ? 1 : 2] ?? '';
  const parts = segments.slice(core ? 2 : 3);
  if (!version || !parts[0]) return undefined;
  let namespace = '';
  if (parts[0] === 'namespaces' && parts.length > 2 && !namespaceSubresources.includes(parts[2] ?? '')) {
    namespace = parts[1] ?? '';
    parts.splice(0, 2);
  }
  const [plural = '', name = '', subresource = '', ...rest] = parts;
  return { group, version, namespace, plural, name, subresource, rest: rest.join('/') };
};
