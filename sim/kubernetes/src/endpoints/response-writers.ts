import { ApiError, badRequest, type Status } from '../errors/api-error.ts';
import type { ApiRequest, PlainResponse, StreamResponse } from '../http-messages.ts';
import type { JsonObject, KubeObject } from '../object.ts';
import { partialMetadataListOf, partialMetadataOf, tableOf } from '../printers/table.ts';
import { apiVersionOf, type Resource } from '../resource.ts';
import { encodeResponse, negotiate, type Negotiated } from '../serialization/negotiation.ts';
import type { ListResult } from '../store/list.ts';
import type { WatchEvent } from '../store/watch.ts';

/** Converts objects to the format that the client asked for: the object itself, a table, or only its metadata. */

type IncludeObject = 'None' | 'Metadata' | 'Object';

const includeObjectOf = (query: URLSearchParams): IncludeObject => {
  const value = query.get('includeObject') ?? '';
  if (value === '') return 'Metadata';
  if (value === 'None' || value === 'Metadata' || value === 'Object') return value;
  throw badRequest(
    `Unable to convert to Table as requested: includeObject: Invalid value: ${JSON.stringify(value)}: must be 'Metadata', 'Object', 'None', or empty`,
  );
};

const wanted = (request: ApiRequest, resource: Resource, watch = false): Negotiated => {
  const { custom, verbs } = resource;
  const negotiated = negotiate(request.headers['accept'], { custom, watch, watchable: verbs.includes('watch') });
  return request.query.get('pretty') === 'true' ? { ...negotiated, pretty: true } : negotiated;
};

export const respondObject = (
  request: ApiRequest,
  resource: Resource,
  code: number,
  object: KubeObject,
  now: number,
  headers: Record<string, string> = {},
): PlainResponse => {
  const negotiated = wanted(request, resource);
  const shaped = (): unknown => {
    switch (negotiated.as) {
      case 'table':
        return tableOf(resource, [object], {
          now,
          includeObject: includeObjectOf(request.query),
          listMetadata: { resourceVersion: object.metadata.resourceVersion },
          columns: true,
        });
      case 'partial':
        return partialMetadataOf(object);
      case 'object':
        return object;
    }
  };
  return encodeResponse(negotiated, code, shaped(), headers);
};

export const respondList = (
  request: ApiRequest,
  resource: Resource,
  listed: ListResult,
  now: number,
): PlainResponse => {
  const negotiated = wanted(request, resource);
  const metadata: JsonObject = { ...listed.metadata };
  const shaped = (): unknown => {
    switch (negotiated.as) {
      case 'table':
        return tableOf(resource, listed.items, {
          now,
          includeObject: includeObjectOf(request.query),
          listMetadata: metadata,
          columns: true,
        });
      case 'partial':
        return partialMetadataListOf(listed.items, metadata);
      case 'object':
        return {
          kind: resource.listKind,
          apiVersion: apiVersionOf(resource),
          metadata,
          items: listed.items.map(itemOf(resource)),
        };
    }
  };
  return encodeResponse(negotiated, 200, shaped());
};

/** Items of a built-in list have no kind; those of a custom resource do. */
const itemOf = (resource: Resource) => (object: KubeObject) => {
  if (resource.custom) return object;
  const { kind: _kind, apiVersion: _apiVersion, ...rest } = object;
  return rest;
};

export const respondStatus = (request: ApiRequest, resource: Resource, code: number, status: Status): PlainResponse =>
  encodeResponse(wanted(request, resource), code, status);

/** Newline-delimited events, a batch per chunk. */
export const respondWatch = (
  request: ApiRequest,
  resource: Resource,
  batches: AsyncIterable<WatchEvent[]>,
  now: () => number,
): StreamResponse => {
  const { as } = wanted(request, resource, true);
  const include = includeObjectOf(request.query);
  let first = true;
  const shaped = (event: WatchEvent): unknown => {
    if (event.type === 'ERROR' || as === 'object') return event.object;
    if (as === 'partial') return partialMetadataOf(event.object);
    const table = tableOf(resource, [event.object], {
      now: now(),
      includeObject: include,
      listMetadata: { resourceVersion: event.object.metadata.resourceVersion },
      columns: first,
    });
    first = false;
    return table;
  };
  return {
    kind: 'stream',
    code: 200,
    headers: { 'content-type': 'application/json' },
    chunks: (async function* () {
      for await (const batch of batches) {
        yield batch.map((event) => `${JSON.stringify({ type: event.type, object: shaped(event) })}\n`).join('');
      }
    })(),
  };
};

/** The response for an error. An error that is not an ApiError is a bug of this server, and is reported. */
export const respondError = (error: unknown, report: (error: unknown) => void): PlainResponse => {
  const known =
    error instanceof ApiError
      ? error
      : new ApiError(500, 'InternalError', 'Internal error occurred: the embedded API server failed', {
          causes: [{ message: error instanceof Error ? error.message : String(error) }],
        });
  if (known !== error) report(error);
  const retry = known.status.details?.retryAfterSeconds;
  return {
    kind: 'answer',
    code: known.code,
    headers: {
      'content-type': 'application/json',
      ...(retry === undefined ? {} : { 'retry-after': String(retry) }),
    },
    body: `${JSON.stringify(known.status)}\n`,
  };
};
