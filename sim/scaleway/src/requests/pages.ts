import type { Answer } from './request.ts';
import { invalidArgument } from './refusals.ts';

/** Without `page_size`. */
const usualSize = 20;
/** As `validation-rules.gen.js` of the SDK has it for IAM. */
const largestSize = 100;
const lastPage = 10_000;

const wholeNumber = (text: string | null, otherwise: number): number =>
  text === null ? otherwise : /^\d+$/.test(text) ? Number(text) : Number.NaN;

/** One page of a list, with the number of all of its items: `{ servers: [...], total_count: 57 }`. */
export const page = <T>(
  query: URLSearchParams,
  name: string,
  items: readonly T[],
  show: (item: T) => unknown,
): Answer => {
  const number = wholeNumber(query.get('page'), 1);
  const size = wholeNumber(query.get('page_size'), usualSize);
  if (!(number >= 1 && number <= lastPage)) return invalidArgument('page', 'constraint', `1 to ${lastPage}`);
  if (!(size >= 1 && size <= largestSize)) return invalidArgument('page_size', 'constraint', `1 to ${largestSize}`);
  const start = (number - 1) * size;
  return { status: 200, body: { [name]: items.slice(start, start + size).map(show), total_count: items.length } };
};
