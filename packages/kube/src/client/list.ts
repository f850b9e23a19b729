import { isKubeError, type KubeError } from '../errors/kube-error.ts';
import type { KubeObject, Live, Resource } from '../objects/object.ts';
import type { List, ListOptions } from './client.ts';
import { type Page, parseItem, parsePage } from './parse-object.ts';
import { describeRequest, requestPath } from './request-path.ts';
import { type RestClient, withCallScope } from './rest-client.ts';

const defaultPageSize = 500;

/** A page after the first came too late: the server has forgotten the state that the list shows. */
class ContinueTokenExpired extends Error {
  override readonly cause: KubeError;
  constructor(cause: KubeError) {
    super(cause.message);
    this.cause = cause;
  }
}

interface ListRequest<T extends KubeObject> {
  caller: RestClient;
  resource: Resource<T>;
  what: string;
  options: ListOptions<T>;
  signal: AbortSignal;
  deadlineMs: number;
}

const readPage = async <T extends KubeObject>(listing: ListRequest<T>, continueToken: string): Promise<Page> => {
  const { caller, resource, what, options, signal, deadlineMs } = listing;
  const { namespace, labelSelector, fieldSelector, pageSize = defaultPageSize, resourceVersion } = options;
  // A token stands for a state already; servers refuse both.
  const position = continueToken === '' ? { resourceVersion } : { continue: continueToken };
  const path = requestPath(
    what,
    resource,
    { namespace },
    { limit: pageSize, labelSelector, fieldSelector, ...position },
  );
  try {
    return parsePage(what, await caller.request({ what, method: 'GET', path }, { signal, deadlineMs }));
  } catch (error) {
    throw continueToken !== '' && isKubeError(error, 'expired') ? new ContinueTokenExpired(error) : error;
  }
};

/** All pages of one state of the collection. Of each page no more is kept than what is wanted of it, before the next is read. */
const readPages = async <T extends KubeObject>(listing: ListRequest<T>): Promise<List<T>> => {
  const { what, resource, options } = listing;
  const { transform = (object: Live<T>) => object } = options;
  const items: Live<T>[] = [];
  let resourceVersion: string | undefined;
  let continueToken = '';
  do {
    const page = await readPage(listing, continueToken);
    for (const item of page.items) {
      const wanted = transform(parseItem(what, resource, item));
      if (wanted !== undefined) items.push(wanted);
    }
    resourceVersion ??= page.resourceVersion;
    continueToken = page.continueToken;
  } while (continueToken !== '');
  return { items, resourceVersion };
};

/**
 * Flow: pages of `limit` objects until one has no continue token. When the server has forgotten the state in between (410), it
 * starts again at the first page, once, and with nothing of what it had: pages of two states do not make a list.
 */
export const list = <T extends KubeObject>(
  caller: RestClient,
  resource: Resource<T>,
  options: ListOptions<T>,
): Promise<List<T>> => {
  const what = describeRequest('list', resource, { namespace: options.namespace });
  const { signal, deadlineMs = caller.deadlineMs } = options;
  return withCallScope({ clock: caller.clock, deadlineMs, signal, what }, async (inner) => {
    const listing = { caller, resource, what, options, signal: inner, deadlineMs };
    try {
      return await readPages(listing).catch((error: unknown) => {
        if (error instanceof ContinueTokenExpired) return readPages(listing);
        throw error;
      });
    } catch (error) {
      throw error instanceof ContinueTokenExpired ? error.cause : error;
    }
  });
};
