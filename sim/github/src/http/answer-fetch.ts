import type { ApiRequest, Reply } from '../requests/request.ts';

/** Asks a function as if it was far away: what has no answer is waited for until the signal fires. */
export const answerFetch =
  (handle: (request: ApiRequest) => Promise<Reply>): typeof fetch =>
  async (input, init) => {
    const request = new Request(input, init);
    const { method, signal } = request;
    const { pathname: path, searchParams: query } = new URL(request.url);
    const body = await request.text();
    signal.throwIfAborted();
    const headers = Object.fromEntries(request.headers);
    const what = await Promise.race([handle({ method, path, query, headers, body, signal }), untilAborted(signal)]);
    if (what === 'cut the connection') throw new TypeError('fetch failed: the other side closed the connection');
    if (what === 'never answer') return untilAborted(signal);
    const { status, body: content, headers: told } = what.send;
    const text = content === undefined ? null : typeof content === 'string' ? content : JSON.stringify(content);
    return new Response(text, { status, headers: { 'content-type': 'application/json; charset=utf-8', ...told } });
  };

const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
