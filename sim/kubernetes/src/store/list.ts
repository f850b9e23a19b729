import { ApiError, badRequest, expired } from '../errors/api-error.ts';
import type { KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import type { ListOptions } from './list-options.ts';
import { type Core, prefixOf } from './store.ts';

export interface ListResult {
  items: KubeObject[];
  metadata: { resourceVersion: string; continue?: string; remainingItemCount?: number };
}

interface Continue {
  revision: number;
  /** The key after the prefix at which the next page starts. */
  start: string;
}

const version = 'meta.k8s.io/v1';

const encodeContinue = ({ revision, start }: Continue): string =>
  Buffer.from(JSON.stringify({ v: version, rv: revision, start })).toString('base64url');

const decodeContinue = (token: string): Continue => {
  const refuse = (): ApiError => badRequest('invalid continue token: continue key is not valid');
  try {
    const value: unknown = JSON.parse(Buffer.from(token, 'base64url').toString());
    if (typeof value !== 'object' || value === null) throw refuse();
    const { v, rv, start } = value as Record<string, unknown>;
    if (v !== version || typeof rv !== 'number' || typeof start !== 'string' || start === '') throw refuse();
    return { revision: rv, start };
  } catch {
    throw refuse();
  }
};

const tooOld = (resourceVersion: number, compacted: number): ApiError =>
  expired(`The resourceVersion for the provided list is too old: ${resourceVersion} (${compacted})`);

const tooLarge = (wanted: number, current: number): ApiError =>
  new ApiError(504, 'Timeout', `Timeout: Too large resource version: ${wanted}, current: ${current}`, {
    causes: [{ reason: 'ResourceVersionTooLarge', message: 'Too large resource version' }],
    retryAfterSeconds: 1,
  });

/** The revision that a list shows, and its first key. */
const positionOf = (core: Core, options: ListOptions): Continue => {
  const { storage } = core;
  if (options.continueToken !== '') {
    const position = decodeContinue(options.continueToken);
    // -1 means "continue without a consistent view", which the response to an expired token offers.
    if (position.revision === -1) return { revision: storage.revision, start: position.start };
    if (position.revision < storage.compacted) {
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the ' +
          'continue parameter, or use the continue token in this response to retrieve the remainder of the results. Continuing with ' +
          'the provided token results in an inconsistent list - objects that were created, modified, or deleted between the time the ' +
          'first chunk was returned and now may show up in the list.',
        { continue: encodeContinue({ revision: -1, start: position.start }) },
      );
    }
    return position;
  }
  const wanted = Number(options.resourceVersion || '0');
  if (wanted > storage.revision) throw tooLarge(wanted, storage.revision);
  if (options.resourceVersionMatch === 'Exact') {
    if (wanted < storage.compacted) throw tooOld(wanted, storage.compacted);
    return { revision: wanted, start: '' };
  }
  return { revision: storage.revision, start: '' };
};

/** One page, or everything. A page shows the state at the first page's revision. */
export const listObjects = (core: Core, resource: Resource, namespace: string, options: ListOptions): ListResult => {
  const prefix = prefixOf(resource, namespace);
  const { revision, start } = positionOf(core, options);
  const keyBehindPrefix = (object: KubeObject): string =>
    resource.namespaced && namespace === ''
      ? `${object.metadata.namespace ?? ''}/${object.metadata.name}`
      : object.metadata.name;
  const rest = core.storage
    .list(prefix, revision)
    .filter((object) => keyBehindPrefix(object) >= start)
    .map((object) => resource.fromStored(object))
    .filter((object) => options.matches(object));
  const metadata: ListResult['metadata'] = { resourceVersion: String(revision) };
  const next = options.limit > 0 ? rest[options.limit] : undefined;
  if (!next) return { items: rest, metadata };
  metadata.continue = encodeContinue({ revision, start: keyBehindPrefix(next) });
  if (!options.hasSelector) metadata.remainingItemCount = rest.length - options.limit;
  return { items: rest.slice(0, options.limit), metadata };
};
