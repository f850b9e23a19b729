import { fromStatus } from '../errors/from-status.ts';
import { isRecord, parseJson, recordIn, textIn } from '../errors/json.ts';
import { KubeError } from '../errors/kube-error.ts';
import type { KubeObject } from '../objects/object.ts';
import type { Resource } from '../objects/resource.ts';
import type { Caller } from './caller.ts';
import type { WatchEvent, WatchOptions } from './client.ts';
import { type Frame, framesOf } from './frames.ts';
import { parseObject } from './parse-object.ts';
import { describe, pathOf } from './path.ts';

/** Servers store objects of 1.5 MiB at most, in a form that is several times smaller than JSON. */
const largestEvent = 32 * 1024 * 1024;

const eventOf = <T extends KubeObject>(
  what: string,
  resource: Resource<T>,
  { text, complete }: Frame,
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

/** Newline-delimited events, until the server or the signal ends them. */
export async function* watch<T extends KubeObject>(
  caller: Caller,
  resource: Resource<T>,
  options: WatchOptions,
): AsyncGenerator<WatchEvent<T>> {
  const { namespace, labelSelector, fieldSelector, resourceVersion, timeoutSeconds, signal } = options;
  const what = describe('watch', resource, { namespace });
  const query = {
    watch: true,
    allowWatchBookmarks: true,
    resourceVersion,
    labelSelector,
    fieldSelector,
    timeoutSeconds,
  };
  const path = pathOf(what, resource, { namespace }, query);
  const chunks = caller.stream({ what, method: 'GET', path }, { signal });
  for await (const frame of framesOf(chunks, largestEvent)) yield eventOf(what, resource, frame);
}
