import type { z } from 'zod';
import { garbled } from '../errors/failures.ts';
import { notJSON, parseJSON } from './parse-json.ts';

/**
 * The body as what it should be; nothing else of it goes further. Read here and not by the SDK: to the SDK a list that is missing is an
 * empty one, and a zone that seems empty is one whose Macs are all gone.
 */
export const readAnswer = (
  answer: z.ZodType,
  { status, text }: { readonly status: number; readonly text: string | undefined },
  what: string,
): unknown => {
  if (text === undefined) throw garbled(what, 'it is too long', status);
  const body = parseJSON(text);
  if (body === notJSON) throw garbled(what, 'it is not JSON', status);
  const result = answer.safeParse(body);
  if (!result.success) throw garbled(what, problemOf(result.error), status);
  return result.data;
};

/** Where it is wrong, never what stands there: that may be a password. */
const problemOf = ({ issues }: z.ZodError): string => {
  const [issue] = issues;
  if (issue === undefined) return 'it is not as promised';
  const expected =
    issue.code === 'invalid_type' ? `is not ${article(issue.expected)}` : 'has a value that makes no sense';
  return issue.path.length === 0 ? `the whole ${expected}` : `the field ${pathText(issue.path)} ${expected}`;
};

const article = (word: string): string => (/^[aeiou]/.test(word) ? `an ${word}` : `a ${word}`);

const pathText = (path: readonly PropertyKey[]): string =>
  path.map((part, at) => (typeof part === 'number' ? `[${part}]` : `${at === 0 ? '' : '.'}${String(part)}`)).join('');
