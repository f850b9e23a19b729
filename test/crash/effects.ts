import type { TransportRequest } from '@tartan/kube';

/**
 * Names for the changes that a manager makes in the harness, the same in every run: a point at which it can be killed is the n-th effect of
 * a name.
 */

/** Short names for servers in names of effects. */
export type Alias = (text: string) => string;

const unnoticed = /\/(events|leases)(\/|$|\?)/;

/** Undefined: it changes nothing that any decision depends on. */
export const kubernetesEffect = (request: TransportRequest, alias: Alias): string | undefined => {
  const { method, path, body = '' } = request;
  const [where = ''] = path.split('?');
  if (method === 'GET' || unnoticed.test(path) || where.endsWith('reviews')) return undefined;
  const parts = where.split('/').filter(Boolean);
  const [, ...rest] = parts[0] === 'api' ? parts.slice(1) : parts.slice(2);
  const named = rest[0] === 'namespaces' && rest.length > 2 ? rest.slice(2) : rest;
  const sent: unknown = body === '' ? {} : JSON.parse(body);
  const own = method === 'POST' ? nameIn(sent) : '';
  const target = alias([...named, ...(own === '' ? [] : [own])].join('/'))
    .replace(/(bootstrap-token-).*/, '$1…')
    .replace(/(certificatesigningrequests\/\S+-)[^/]*/, '$1…');
  const fields = method === 'PATCH' ? ` (${fieldsOf(sent).join(', ')})` : '';
  return `${method} ${target}${fields}`;
};

const nameIn = (object: unknown): string => {
  const { metadata } = object as { metadata?: { name?: string } };
  return metadata?.name ?? '';
};

/** The fields that a merge patch sets and removes: `spec.release`, `status.wipe`, `-spec.consumerRef`. */
const fieldsOf = (patch: unknown): string[] => {
  const fields: string[] = [];
  const isMap = (value: unknown): value is object =>
    typeof value === 'object' && value !== null && !Array.isArray(value);
  for (const [part, value] of Object.entries(patch as object)) {
    if (!isMap(value)) fields.push(part);
    else
      for (const [key, inner] of Object.entries(value)) {
        if (part === 'metadata' && ['uid', 'resourceVersion', 'labels'].includes(key)) continue;
        fields.push(`${inner === null ? '-' : ''}${part}.${key}`);
      }
  }
  return fields.sort();
};

/** Of a request to Scaleway. */
export const scalewayEffect = (method: string, url: string, body: string, alias: Alias): string | undefined => {
  if (method === 'GET') return undefined;
  const path = new URL(url).pathname.replace(/^.*\/(servers|ssh-keys)/, '$1');
  const { name } = (body === '' ? {} : JSON.parse(body)) as { name?: string };
  const called = name === undefined ? '' : ` (${name.replace(/(pool-).*/, '$1…')})`;
  return `Scaleway: ${method} ${alias(path).replace(/(ssh-keys\/).*/, '$1…')}${called}`;
};

/** The URL of a request. */
export const addressOf = (input: string | URL | Request): string =>
  input instanceof Request ? input.url : input.toString();
