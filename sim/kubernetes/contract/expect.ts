import assert from 'node:assert/strict';
import type { Answer } from './cluster.ts';
import { isObject } from '../src/object.ts';
import { read, readKey, readText } from './read.ts';

export interface Cause {
  reason?: string;
  message?: string;
  field?: string;
}

export interface Refusal {
  code: number;
  reason?: string;
  message?: string | RegExp;
  /** Compared as a whole, if given. */
  details?: Record<string, unknown>;
  /** Compared as a whole and in order, if given. */
  causes?: Cause[];
}

/** `actual` without the fields that `expected` does not name. */
const projected = (actual: unknown, expected: unknown): unknown => {
  if (Array.isArray(actual) && Array.isArray(expected)) {
    return actual.map((item: unknown, index) => projected(item, expected[index]));
  }
  if (!isObject(actual) || !isObject(expected)) return actual;
  return Object.fromEntries(
    Object.entries(expected).map(([key, value]) => [key, projected(readKey(actual, key), value)]),
  );
};

/** Every field in `expected` has that value. Objects may have more fields, lists may not have more items. */
export const includes = (actual: unknown, expected: Record<string, unknown>): void =>
  assert.deepEqual(projected(actual, expected), expected);

/** The response is a `Status` with exactly these values. */
export const refused = (answer: Answer, { code, reason, message, details, causes }: Refusal): void => {
  assert.equal(answer.code, code, answer.text.slice(0, 2000));
  const status = answer.json;
  includes(status, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code });
  if (reason !== undefined) assert.equal(read(status, 'reason'), reason);
  if (message instanceof RegExp) assert.match(readText(status, 'message'), message);
  else if (message !== undefined) assert.equal(read(status, 'message'), message);
  if (details !== undefined) assert.deepEqual(read(status, 'details'), details);
  if (causes !== undefined) assert.deepEqual(read(status, 'details.causes'), causes);
};
