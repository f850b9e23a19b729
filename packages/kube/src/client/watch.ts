import { fromStatus } from '../errors/from-status.ts';
import { KubeError } from '../errors/kube-error.ts';
import { isRecord, parseJson, recordIn, textIn } from '../json.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { decodeText } from '../transport/body.ts';
import type { WatchEvent, WatchOptions } from './client.ts';
import { parseItem, parseObject } from './parse-object.ts';
import { createTextFilter, identityInEvent, isBlank } from './raw-json.ts';
import { describeRequest, requestPath } from './request-path.ts';
import type { RestClient } from './rest-client.ts';

/** etcd limits objects to 1.5 MiB, in an encoding several times smaller than JSON. */
const maxEventBytes = 32 * 1024 * 1024;

const eventOf = <T extends KubeObject>(
  what: string,
  resource: Resource<T>,
  { bytes, complete }: WatchFrame,
): WatchEvent<T> => {
  const event = parseJson(decodeText(bytes));
  if (event === undefined && !complete) {
    throw new KubeError('unreachable', `Cannot ${what}: the stream ended within an event`);
  }
  const type = textIn(event, 'type') ?? '';
  const object: unknown = isRecord(event) ? event['object'] : undefined;
  switch (type) {
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED':
      return { type, object: parseObject(what, resource, object) };
    case 'BOOKMARK': {
      const resourceVersion = textIn(recordIn(object, 'metadata'), 'resourceVersion') ?? '';
      if (resourceVersion !== '') return { type, resourceVersion };
      throw new KubeError('malformed', `Cannot ${what}: a bookmark has no resourceVersion`);
    }
    case 'ERROR':
      throw fromStatus(what, object);
    default:
      throw new KubeError('malformed', `Cannot ${what}: the server sent something that is no watch event`);
  }
};

/** The event of an object without the wanted text. undefined: parse it. */
const unwantedEvent = <T extends KubeObject>(
  what: string,
  resource: Resource<T>,
  { bytes, complete }: WatchFrame,
): WatchEvent<T> | undefined => {
  const identity = complete ? identityInEvent(bytes, resource) : undefined;
  if (identity === undefined) return undefined;
  const metadata = { ...identity, creationTimestamp: '' };
  return { type: 'DELETED', object: parseItem(what, resource, { metadata }) };
};

/** Parses newline-delimited events until the server ends the stream or the signal fires. */
export async function* watch<T extends KubeObject>(
  rest: RestClient,
  resource: Resource<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, signal } = options;
  const what = describeRequest('watch', resource, { namespace });
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion,
    labelSelector,
    fieldSelector,
    timeoutSeconds,
  };
  const path = requestPath(what, resource, { namespace }, query);
  const chunks = rest.stream({ what, method: 'GET', path }, { signal });
  const mayContain = options.mustContain === undefined ? undefined : createTextFilter(options.mustContain);
  for await (const frame of splitFrames(chunks, maxEventBytes)) {
    const unwanted = mayContain?.(frame.bytes) === false ? unwantedEvent(what, resource, frame) : undefined;
    yield unwanted ?? eventOf(what, resource, frame);
  }
}

const newline = 0x0a;

interface WatchFrame {
  bytes: Uint8Array;
  /** Whether it ended with a newline; the last frame may be truncated. */
  complete: boolean;
}

/**
 * Splits a stream into lines. A newline byte is never part of a multi-byte UTF-8 sequence. Skips empty lines. Text after the last newline is a line too.
 * Throws KubeError `malformed` for a line longer than `largest` bytes, before it buffers more of it.
 */
export async function* splitFrames(chunks: AsyncIterable<Uint8Array>, largest: number): AsyncGenerator<WatchFrame> {
  let pieces: Uint8Array[] = [];
  let length = 0;
  const keep = (piece: Uint8Array): void => {
    length += piece.length;
    if (length > largest) {
      throw new KubeError('malformed', `An event of the Kubernetes API is longer than ${largest} bytes`);
    }
    pieces.push(piece);
  };
  const take = (): Uint8Array => {
    const [only] = pieces;
    const bytes = only && pieces.length === 1 ? only : Buffer.concat(pieces, length);
    pieces = [];
    length = 0;
    return bytes;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (!isBlank(line)) yield { bytes: line, complete: true };
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  const rest = take();
  if (!isBlank(rest)) yield { bytes: rest, complete: false };
}
