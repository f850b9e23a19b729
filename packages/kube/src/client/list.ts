import { isKubeError } from '../errors/kube-error.ts';
import type { KubeObject, Live, Resource } from '../objects/object.ts';
import { decodeText } from '../transport/body.ts';
import { withCallScope } from './call-scope.ts';
import type { List, ListOptions } from './client.ts';
import { type Page, parseItem, parsePage } from './parse-object.ts';
import { createTextFilter, filterPage } from './raw-json.ts';
import { describeRequest, requestPath } from './request-path.ts';
import type { RestClient } from './rest-client.ts';

const defaultPageSize = 500;

/**
 * Reads pages of `limit` objects until a page has no continue token. When the token has expired (410), it discards everything
 * and starts again at the first page, once: pages of two different versions are not a consistent list.
 */
export const list = <T extends KubeObject>(
  rest: RestClient,
  resource: Resource<T>,
  options: ListOptions<T>,
): Promise<List<T>> => {
  const { namespace, labelSelector, fieldSelector, pageSize = defaultPageSize, signal } = options;
  const { deadlineMs = rest.deadlineMs, transform = (object: Live<T>) => object } = options;
  const what = describeRequest('list', resource, { namespace });
  const mayContain = options.mustContain === undefined ? undefined : createTextFilter(options.mustContain);
  const read = (bytes: Uint8Array): string => (mayContain && filterPage(bytes, mayContain)) ?? decodeText(bytes);

  return withCallScope({ clock: rest.clock, deadlineMs, signal, what }, async (scope) => {
    const readPage = async (continueToken: string): Promise<Page> => {
      const query = { limit: pageSize, labelSelector, fieldSelector, continue: continueToken };
      const path = requestPath(what, resource, { namespace }, query);
      const call = { signal: scope.signal, deadlineMs: scope.remainingMs() };
      return parsePage(what, await rest.request({ what, method: 'GET', path }, call, read));
    };

    /** Applies `transform` to each page before it reads the next one, to bound the memory. */
    const readPages = async (mayRestart: boolean): Promise<List<T>> => {
      const first = await readPage('');
      const items: Live<T>[] = [];
      for (let page = first; ; ) {
        for (const item of page.items) {
          const kept = transform(parseItem(what, resource, item));
          if (kept !== undefined) items.push(kept);
        }
        if (page.continueToken === '') return { items, resourceVersion: first.resourceVersion };
        try {
          page = await readPage(page.continueToken);
        } catch (error) {
          if (mayRestart && isKubeError(error, 'expired')) return readPages(false);
          throw error;
        }
      }
    };

    return readPages(true);
  });
};
