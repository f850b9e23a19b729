import type { Clock } from '../clock/index.ts';
import { isRecord, listIn, textIn } from '../json.ts';

export interface FetchTextOptions {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Milliseconds for the whole response including its body. */
  readonly deadline: number;
  /** Limit for the body after decompression. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

interface TextResponse {
  readonly status: number;
  readonly headers: Headers;
  /** `undefined`: longer than `maxBytes`; the rest was not read. */
  readonly text: string | undefined;
}

/**
 * One request and its whole response, whatever its status. Rejects only with the reason of `signal`. `failure` explains a missing response
 * by a code only: the messages of `fetch` and the HTTP parser quote sent and received data.
 */
export const fetchText = async (
  url: string,
  init: Pick<RequestInit, 'method' | 'headers' | 'body'>,
  { fetch: send, clock, deadline, maxBytes, signal }: FetchTextOptions,
): Promise<TextResponse | { readonly failure: string }> => {
  const expired = new AbortController();
  const cancelDeadline = clock.after(deadline, () => expired.abort());
  try {
    const response = await send(url, {
      ...init,
      // Following a redirect would send the caller's secrets to another host, or repeat a POST as a GET.
      redirect: 'manual',
      signal: signal === undefined ? expired.signal : AbortSignal.any([signal, expired.signal]),
    });
    return { status: response.status, headers: response.headers, text: await readText(response, maxBytes) };
  } catch (error) {
    signal?.throwIfAborted();
    return { failure: expired.signal.aborted ? `nothing came within ${deadline / 1000} s` : networkErrorCode(error) };
  } finally {
    cancelDeadline();
  }
};

const readText = async (response: Response, limit: number): Promise<string | undefined> => {
  if (response.body === null) return '';
  const decoder = new TextDecoder();
  let read = 0;
  let text = '';
  for await (const chunk of response.body) {
    read += chunk.byteLength;
    if (read > limit) return undefined;
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
};

/** The message `fetch failed` says nothing; the code of its cause does (`ENOTFOUND`). */
export const networkErrorCode = (error: unknown, depth = 0): string => {
  if (!isRecord(error) || depth > 5) return 'the connection failed';
  const code = textIn(error, 'code') ?? '';
  if (/^[A-Z][A-Z0-9_]{2,60}$/.test(code)) return code;
  return networkErrorCode(error['cause'] ?? listIn(error, 'errors')[0], depth + 1);
};
