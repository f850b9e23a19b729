import { fetchText, type FetchTextOptions, parseJson, type Secret } from '@tartan/kube';

/** A hundred workflow runs are 2 MB. What is larger than this is not from GitHub's API. */
const maxBytes = 16 * 1024 * 1024;

export interface Connection extends Pick<FetchTextOptions, 'fetch' | 'clock' | 'deadline'> {
  readonly apiURL: string;
}

/** Of the path, of the query of a GET, and of the body of a POST alike. */
export type RequestParameters = Readonly<Record<string, string | number | readonly string[]>>;

export interface ApiRequest {
  /** `GET /orgs/{org}/actions/runners` */
  readonly route: string;
  readonly parameters: RequestParameters;
  readonly token: Secret;
  /** Of a response in the cache: GitHub answers 304 if nothing has changed. */
  readonly etag: string | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Of any status. */
export interface ApiResponse {
  readonly status: number;
  readonly headers: Headers;
  /** Undefined: not JSON. Not validated yet. */
  readonly body: unknown;
}

/** Rejects with the reason of the signal only. `failure` contains nothing of what was sent or received. */
export const sendRequest = async (
  { route, parameters, token, etag, signal }: ApiRequest,
  { apiURL, ...connection }: Connection,
): Promise<ApiResponse | { readonly failure: string }> => {
  const { method, path, body } = expandRoute(route, parameters);
  const init = {
    method,
    headers: {
      accept: 'application/vnd.github+json',
      authorization: `Bearer ${token.reveal()}`,
      'user-agent': 'tartan',
      'x-github-api-version': '2022-11-28',
      ...(etag === undefined ? {} : { 'if-none-match': etag }),
      ...(body === undefined ? {} : { 'content-type': 'application/json; charset=utf-8' }),
    },
    ...(body === undefined ? {} : { body }),
  };
  const response = await fetchText(`${apiURL}${path}`, init, { ...connection, maxBytes, signal });
  if ('failure' in response) return response;
  const { status, headers, text } = response;
  return text === undefined ? { failure: 'its answer is too long' } : { status, headers, body: parseJson(text) };
};

/** Fills in the path. The remaining parameters are the query of a GET and the body of everything else. */
const expandRoute = (
  route: string,
  parameters: RequestParameters,
): { readonly method: string; readonly path: string; readonly body: string | undefined } => {
  const [method = '', template = ''] = route.split(' ');
  const rest = new Map(Object.entries(parameters));
  const path = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(rest.get(name) ?? '');
    rest.delete(name);
    return encodeURIComponent(value.toWellFormed());
  });
  if (rest.size === 0) return { method, path, body: undefined };
  if (method !== 'GET') return { method, path, body: JSON.stringify(Object.fromEntries(rest)) };
  const query = new URLSearchParams([...rest].map(([name, value]) => [name, String(value)]));
  return { method, path: `${path}?${query.toString()}`, body: undefined };
};
