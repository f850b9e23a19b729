import { evaluate } from './json-path/evaluate.ts';
import { parsePath } from './json-path/parse.ts';

export { JsonPathError } from './json-path/parse.ts';

/**
 * The JSONPath of printer columns: `.spec.x`, `.metadata.labels['a\.b']`, `.list[0]`, `.list[*].x`,
 * `.status.conditions[?(@.type=="Ready")].status`. Throws JsonPathError for what cannot be parsed. What an object does not have,
 * and what cannot be compared, yields nothing.
 */
export const jsonPath = (expression: string): ((object: unknown) => unknown[]) => {
  const steps = parsePath(expression);
  return (object) => evaluate(steps, object);
};
