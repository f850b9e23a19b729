import type { ApiRequest } from '../requests/request.ts';
import type { Reply } from './serve.ts';

/** Asks a function as if it was far away: what has no answer is waited for until the signal fires. */
export const answerFetch =
  (reply: (request: ApiRequest, target: string) => Reply): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const { pathname: path, search, searchParams: query } = new URL(request.url);
    const body = await request.text();
    request.signal.throwIfAborted();
    const token = request.headers.get('x-auth-token') ?? undefined;
    const what = reply({ method: request.method, path, query, token, body }, `${path}${search}`);
    if (what === 'cut the connection') throw new TypeError('fetch failed: the other side closed the connection');
    if (what === 'never answer') return untilAborted(request.signal);
    const { status, body: content, headers } = what.send;
    const text = content === undefined ? null : JSON.stringify(content);
    return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });
  };

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
