import { readText } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import type { z } from 'zod';
import type { HTTPResponse } from '../errors/error-response.ts';
import { garbled, networkErrorCode, noAnswer } from '../errors/scaleway-error.ts';

/** Instead of an error, whose message would quote the text. */
const notJSON = Symbol('not JSON');

/** Nothing is `undefined`. */
export const parseJSON = (text: string): unknown => {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return notJSON;
  }
};

/** 100 servers are 0.3 MB. What is larger than this is not from Scaleway's API. */
export const maxResponseBytes = 8 * 1024 * 1024;

/** What is sent, in a form that can be sent again: the body of a `Request` can be read only once. */
export interface OutgoingRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Headers;
  readonly body: string | undefined;
}

interface RequestOptions {
  readonly fetch: typeof fetch;
  readonly clock: Clock;
  /** Milliseconds for the whole answer, its body included. */
  readonly deadline: number;
  readonly what: string;
  readonly signal: AbortSignal | undefined;
}

/** One request and its answer, whatever its status. Rejects with `no answer`, or with the reason of `signal`. */
export const fetchOnce = async (outgoing: OutgoingRequest, options: RequestOptions): Promise<HTTPResponse> => {
  const { clock, deadline, what, signal } = options;
  const deadlineController = new AbortController();
  const cancelDeadline = clock.after(deadline, () => deadlineController.abort());
  try {
    const response = await options.fetch(outgoing.url, {
      method: outgoing.method,
      headers: outgoing.headers,
      ...(outgoing.body === undefined ? {} : { body: outgoing.body }),
      // Followed, a redirect would hand the secret key in `X-Auth-Token` to whoever it points at, and repeat a POST.
      redirect: 'manual',
      signal: signal === undefined ? deadlineController.signal : AbortSignal.any([signal, deadlineController.signal]),
    });
    const text = await readText(response, maxResponseBytes);
    return { status: response.status, text, retryAfter: response.headers.get('retry-after') };
  } catch (error) {
    signal?.throwIfAborted();
    throw noAnswer(
      what,
      deadlineController.signal.aborted ? `nothing came within ${deadline} ms` : networkErrorCode(error),
    );
  } finally {
    cancelDeadline();
  }
};

/**
 * The body as what it should be; nothing else of it goes further. Read here and not by the SDK: to the SDK a list that is missing is an
 * empty one, and a zone that seems empty is one whose Macs are all gone.
 */
export const parseResponse = (
  answer: z.ZodType,
  { status, text }: { readonly status: number; readonly text: string | undefined },
  what: string,
): unknown => {
  if (text === undefined) throw garbled(what, 'it is too long', status);
  const body = parseJSON(text);
  if (body === notJSON) throw garbled(what, 'it is not JSON', status);
  const result = answer.safeParse(body);
  if (!result.success) throw garbled(what, describeIssue(result.error), status);
  return result.data;
};

/** Where it is wrong, never what stands there: that may be a password. */
const describeIssue = ({ issues }: z.ZodError): string => {
  const [issue] = issues;
  if (issue === undefined) return 'it is not as promised';
  const expected =
    issue.code === 'invalid_type' ? `is not ${withArticle(issue.expected)}` : 'has a value that makes no sense';
  return issue.path.length === 0 ? `the whole ${expected}` : `the field ${pathText(issue.path)} ${expected}`;
};

const withArticle = (word: string): string => (/^[aeiou]/.test(word) ? `an ${word}` : `a ${word}`);

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`)).join('');
