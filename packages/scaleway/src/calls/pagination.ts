import { garbled } from '../errors/scaleway-error.ts';

export interface Page<T> {
  readonly items: readonly T[];
  /** How many there are on all pages, if it is told. */
  readonly total: number | null | undefined;
}

/** The most that Scaleway gives at once. */
export const pageSize = 100;

/** 20,000 Macs. A list that is longer has no end. */
const maxPages = 200;
const maxPasses = 3;

/**
 * All of a list that comes in pages. A host that is taken out of it between two pages moves the next one over the border, unseen, and a
 * host that is not seen looks lost: so a list that changed while it was read is read again.
 *
 * Caveat: one gone and one come between two pages cancel out. The next list shows it.
 */
export const listAllPages = async <T extends { readonly id: string }>(
  what: string,
  readPage: (page: number) => Promise<Page<T>>,
): Promise<T[]> => {
  for (let pass = 1; pass <= maxPasses; pass += 1) {
    const all = await onePass(what, readPage);
    if (all !== undefined) return all;
  }
  throw garbled(what, `the pages did not add up to the number of entries they tell, ${maxPasses} times`);
};

/** `undefined`: the pages do not belong together. */
const onePass = async <T extends { readonly id: string }>(
  what: string,
  readPage: (page: number) => Promise<Page<T>>,
): Promise<T[] | undefined> => {
  const seen = new Map<string, T>();
  let firstTotal: number | undefined;
  for (let page = 1; page <= maxPages; page += 1) {
    const { items, ...told } = await readPage(page);
    const total = told.total ?? undefined;
    if (page === 1) firstTotal = total;
    if (total !== firstTotal) return undefined;
    const before = seen.size;
    for (const item of items) seen.set(item.id, item);
    if (total === undefined ? items.length < pageSize : seen.size === total) return [...seen.values()];
    // A page without anything new is the end, or a server that does not turn pages: either way more was promised.
    if (seen.size === before) return undefined;
  }
  throw garbled(what, `it has more than ${maxPages} pages`);
};
