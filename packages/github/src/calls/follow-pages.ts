import type { Answered, Ask, Asked } from '../http/ask.ts';

/** The most that GitHub gives at once. */
const pageSize = 100;

interface Page<Item> {
  readonly total: number;
  readonly items: readonly Item[];
}

/**
 * All of a list that comes in pages, at most so many of them.
 *
 * Caveat: what moves over the border of two pages while they are read may be missing. The next look shows it; nothing may be concluded
 * from what a list does not have.
 */
export const followPages = async <T, Item extends { readonly id: number }>(
  ask: Ask,
  asked: Asked<T>,
  read: (answer: T) => Page<Item>,
  mostPages: number,
): Promise<Answered<readonly Item[]>> => {
  const seen = new Map<number, Item>();
  for (let page = 1; page <= mostPages; page += 1) {
    const parameters = { ...asked.parameters, per_page: pageSize, page };
    const answer = await ask({ ...asked, parameters });
    if (answer.kind !== 'ok') return answer;
    const { total, items } = read(answer.value);
    for (const item of items) seen.set(item.id, item);
    if (items.length < pageSize || page * pageSize >= total) break;
  }
  return { kind: 'ok', value: [...seen.values()] };
};
