import type { Answer, ApiRequest } from './request.ts';

const usualSize = 30;
const largestSize = 100;

/** Whatever is no number, or none that makes sense, is as if it had not been said. More than a hundred is a hundred. */
const wholeNumber = (text: string | null, otherwise: number): number =>
  text !== null && /^[1-9]\d*$/.test(text) ? Number(text) : otherwise;

/** REST API, "Using pagination": only the links that lead somewhere, and none at all when there is but one page. */
const links = ({ path, query }: ApiRequest, base: string, page: number, last: number): Record<string, string> => {
  const rels = { prev: page - 1, next: page + 1, last, first: 1 };
  const told = Object.entries(rels).filter(([rel, to]) => {
    if (rel === 'prev' || rel === 'first') return page > 1;
    return page < last && to <= last;
  });
  if (told.length === 0) return {};
  const link = told.map(([rel, to]) => {
    const there = new URLSearchParams(query);
    there.set('page', String(Math.min(to, last)));
    return `<${base}${path}?${there.toString()}>; rel="${rel}"`;
  });
  return { link: link.join(', ') };
};

/** One page of a list, with the number of all of its items: `{ total_count: 57, runners: [...] }`. */
export const page = <T>(
  request: ApiRequest,
  base: string,
  name: string,
  items: readonly T[],
  show: (item: T) => unknown,
): Answer => {
  const size = Math.min(wholeNumber(request.query.get('per_page'), usualSize), largestSize);
  const number = wholeNumber(request.query.get('page'), 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const shown = items.slice((number - 1) * size, number * size);
  return {
    status: 200,
    body: { total_count: items.length, [name]: shown.map(show) },
    headers: links(request, base, number, last),
  };
};
