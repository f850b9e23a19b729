import { RE2JS } from 're2js';

/** Patterns are RE2, as in Go: linear in the length of the text, so that no pattern can block the server. */
const compiled = new Map<string, RE2JS | Error>();
const limit = 1_000;

/** The compiled pattern, or the error. */
export const compilePattern = (pattern: string): RE2JS | Error => {
  const known = compiled.get(pattern);
  if (known) return known;
  let result: RE2JS | Error;
  try {
    result = RE2JS.compile(pattern);
  } catch (error) {
    result = error instanceof Error ? error : new Error(String(error));
  }
  if (compiled.size >= limit) compiled.clear();
  compiled.set(pattern, result);
  return result;
};

/** Whether the pattern occurs anywhere in the text. */
export const occurs = (pattern: RE2JS, text: string): boolean => pattern.matcher(text).find();
