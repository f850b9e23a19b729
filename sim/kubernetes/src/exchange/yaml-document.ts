import { Composer, Lexer, LineCounter, Parser, type Document, type Tags } from 'yaml';
import { MalformedError, maxDepth } from './json.ts';

const tooDeep = (): MalformedError => new MalformedError('yaml: exceeded max depth of 10000');

// YAML 1.1 as go-yaml reads it: `yes` is a boolean, but `1:30` is no number and a date is a string.
const withoutOddTypes = (tags: Tags): Tags =>
  tags.filter(
    (tag) =>
      typeof tag === 'string' ||
      (!['omap', 'pairs', 'set', 'timestamp'].some((name) => tag.tag.endsWith(`:${name}`)) &&
        !('format' in tag && tag.format === 'TIME')),
  );

/** Token by token, so that hostile nesting and a second document end the work at once. */
function* documents(text: string, lines: LineCounter): Generator<Document> {
  const parser = new Parser(lines.addNewLine);
  const composer = new Composer({
    version: '1.1',
    intAsBigInt: true,
    uniqueKeys: false,
    prettyErrors: false,
    logLevel: 'silent',
    customTags: withoutOddTypes,
  });
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) yield* composer.next(token);
    // A level of a block is two entries of the stack: the collection, and what stands in it.
    if (parser.stack.length > 2 * maxDepth) throw tooDeep();
  }
  for (const token of parser.end()) yield* composer.next(token);
  yield* composer.end();
}

/** The root node of the first document of a stream, undefined if there is none, and where its lines begin. */
export const firstDocument = (text: string): { root: unknown; lines: LineCounter } => {
  const lines = new LineCounter();
  try {
    const first = documents(text, lines).next();
    const document = first.done ? undefined : first.value;
    const error = document?.errors[0];
    if (error?.message.includes('call stack')) throw tooDeep();
    if (error) throw new MalformedError(`yaml: line ${lines.linePos(error.pos[0]).line}: ${error.message}`);
    return { root: document?.contents, lines };
  } catch (error) {
    if (error instanceof MalformedError) throw error;
    // The composer recurses. Whatever else it throws on hostile input is about the input too.
    if (error instanceof RangeError) throw tooDeep();
    throw new MalformedError(`yaml: ${error instanceof Error ? error.message : 'cannot be read'}`);
  }
};
