import { formatPath } from '@tartan/kube';
import type { z } from 'zod';
import { garbled } from '../errors/scaleway-error.ts';

/** Replaces an error, whose message would quote the text. */
const notJSON = Symbol('not JSON');

/** `undefined` for empty text. */
export const parseJSON = (text: string): unknown => {
  if (text.trim() === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return notJSON;
  }
};

/** The body, parsed by `schema`. Nothing else of it is used. */
export const parseResponse = <S extends z.ZodType>(
  schema: S,
  { status, text }: { readonly status: number; readonly text: string | undefined },
  what: string,
): z.output<S> => {
  if (text === undefined) throw garbled(what, 'it is too long', status);
  const body = parseJSON(text);
  if (body === notJSON) throw garbled(what, 'it is not JSON', status);
  const result = schema.safeParse(body);
  if (!result.success) throw garbled(what, describeIssue(result.error), status);
  return result.data;
};

/** Names the field, never its value: that may be a password. */
const describeIssue = ({ issues }: z.ZodError): string => {
  const [issue] = issues;
  if (issue === undefined) return 'it is not as promised';
  const expected =
    issue.code === 'invalid_type' ? `is not ${withArticle(issue.expected)}` : 'has a value that makes no sense';
  return issue.path.length === 0 ? `the whole ${expected}` : `the field ${formatPath(issue.path)} ${expected}`;
};

const withArticle = (word: string): string => (/^[aeiou]/.test(word) ? `an ${word}` : `a ${word}`);
