import { fromStatus } from '../errors/from-status.ts';
import { KubeError } from '../errors/kube-error.ts';
import { isRecord, parseJson, recordIn, textIn } from '../json.ts';
import type { KubeObject, Resource } from '../objects/object.ts';
import { decodeText } from '../transport/body.ts';
import type { WatchEvent, WatchOptions } from './client.ts';
import { parseObject } from './parse-object.ts';
import { describeRequest, requestPath } from './request-path.ts';
import type { RestClient } from './rest-client.ts';

/** etcd limits objects to 1.5 MiB, in an encoding several times smaller than JSON. */
const maxEventBytes = 32 * 1024 * 1024;

const eventOf = <T extends KubeObject>(
  what: string,
  resource: Resource<T>,
  { text, complete }: WatchFrame,
): WatchEvent<T> => {
  const event = parseJson(text);
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
  for await (const frame of splitFrames(chunks, maxEventBytes)) yield eventOf(what, resource, frame);
}

const newline = 0x0a;

interface WatchFrame {
  text: string;
  /** Whether it ended with a newline; the last frame may be truncated. */
  complete: boolean;
}

/**
 * Splits a stream into lines. A newline byte is never part of a multi-byte UTF-8 sequence, so bytes are split first and decoded
 * afterwards. Skips empty lines. Text after the last newline is a line too.
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
  const take = (): string => {
    const [only] = pieces;
    const text = decodeText(only && pieces.length === 1 ? only : Buffer.concat(pieces, length));
    pieces = [];
    length = 0;
    return text;
  };
  for await (const chunk of chunks) {
    let start = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, start)) {
      keep(chunk.subarray(start, end));
      start = end + 1;
      const line = take();
      if (line.trim() !== '') yield { text: line, complete: true };
    }
    if (start < chunk.length) keep(chunk.subarray(start));
  }
  const rest = take();
  if (rest.trim() !== '') yield { text: rest, complete: false };
}
