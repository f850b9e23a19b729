/** An HTTP request. */
export interface ApiRequest {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** As sent. */
  readonly body: string;
  /** Fires when the client has disconnected. */
  readonly signal?: AbortSignal;
}

export interface ApiResponse {
  readonly status: number;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** The result of one exchange. */
export type Reply = { readonly send: ApiResponse } | 'disconnect' | 'hang';

/** The fields of a JSON object; undefined if it is none. An empty body is an empty object. */
export const parseBody = (body: string): Readonly<Record<string, unknown>> | undefined => {
  if (body === '') return {};
  try {
    const value: unknown = JSON.parse(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
};

const defaultPageSize = 30;
const maxPageSize = 100;

/** Ignores an invalid number. The maximum is 100. */
const wholeNumber = (text: string | null, otherwise: number): number =>
  text !== null && /^[1-9]\d*$/.test(text) ? Number(text) : otherwise;

/** REST API, "Using pagination": only links to existing pages, and none if there is only one page. */
const links = ({ path, query }: ApiRequest, base: string, page: number, last: number): Record<string, string> => {
  const rels = { prev: page - 1, next: page + 1, last, first: 1 };
  const links = Object.entries(rels).filter(([rel, to]) => {
    if (rel === 'prev' || rel === 'first') return page > 1;
    return page < last && to <= last;
  });
  if (links.length === 0) return {};
  const link = links.map(([rel, to]) => {
    const there = new URLSearchParams(query);
    there.set('page', String(Math.min(to, last)));
    return `<${base}${path}?${there.toString()}>; rel="${rel}"`;
  });
  return { link: link.join(', ') };
};

/** One page of a list, with the total number of items: `{ total_count: 57, runners: [...] }`. */
export const paginate = <T>(
  request: ApiRequest,
  base: string,
  name: string,
  items: readonly T[],
  show: (item: T) => unknown,
): ApiResponse => {
  const size = Math.min(wholeNumber(request.query.get('per_page'), defaultPageSize), maxPageSize);
  const number = wholeNumber(request.query.get('page'), 1);
  const last = Math.max(1, Math.ceil(items.length / size));
  const shown = items.slice((number - 1) * size, number * size);
  return {
    status: 200,
    body: { total_count: items.length, [name]: shown.map(show) },
    headers: links(request, base, number, last),
  };
};
