import { garbled } from '../errors/scaleway-error.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** The number of items on all pages, if the response has it. */
  readonly total: number | null | undefined;
}

/** Scaleway's maximum. */
export const pageSize = 100;

/** The flow of all lists: their callers share them, so none of these callers may hold them up. */
export const listFlow = 'lists';

/** 20,000 Macs. A longer list is taken for endless. */
const maxPages = 200;
const maxPasses = 3;

/**
 * All items of a paginated list. A host that is removed from the list between two pages shifts the next host to a page that was already
 * read, and a host that is not listed looks lost: so a list that changed during the read is read again.
 *
 * Caveat: one removal and one addition between two pages cancel out. The next list shows the host.
 */
export const listAllPages = async <T extends { readonly id: string }>(
  what: string,
  readPage: (page: number) => Promise<Page<T>>,
): Promise<T[]> => {
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    const all = await readOnce(what, readPage);
    if (all !== undefined) return all;
  }
  throw garbled(what, `the pages did not add up to the number of entries they state, ${maxPasses} times`);
};

/** `undefined`: the list changed between its pages. */
const readOnce = async <T extends { readonly id: string }>(
  what: string,
  readPage: (page: number) => Promise<Page<T>>,
): Promise<T[] | undefined> => {
  const seen = new Map<string, T>();
  let firstTotal: number | undefined;
  for (let page = 1; page <= maxPages; page += 1) {
    const { items, total: stated } = await readPage(page);
    const total = stated ?? undefined;
    if (page === 1) firstTotal = total;
    if (total !== firstTotal) return undefined;
    const before = seen.size;
    for (const item of items) seen.set(item.id, item);
    if (total === undefined ? items.length < pageSize : seen.size === total) return [...seen.values()];
    // A page without new items is the end, or a server that ignores `page`: in both cases items are missing.
    if (seen.size === before) return undefined;
  }
  throw garbled(what, `it has more than ${maxPages} pages`);
};
