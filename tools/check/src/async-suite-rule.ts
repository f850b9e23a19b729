/** Until the first function without parameters, which is the function of the suite. */
const suite = /\bdescribe(?:\.only)?\([^;]*?(\basync\s*)?\(\) =>/g;

/**
 * The lines of suites whose function is async. A test that is declared behind an `await` there would leave its suite, with its hooks and its
 * timeout, since `npm test` follows no promises (tools/runtime/src/run-tests/run-batch.ts).
 */
export const asyncSuites = (text: string): readonly number[] =>
  [...text.matchAll(suite)]
    .filter(([, isAsync]) => isAsync !== undefined)
    .map(({ index }) => text.slice(0, index).split('\n').length);
