import { type ASTNode, Environment } from '@marcbachmann/cel-js';
import { compilePattern } from '../go/regexp.ts';
import type { Schema } from '../schema/schema.ts';
import { type CompileError, compileErrorOf, printCompileError } from './errors.ts';
import { registerLists } from './library/lists.ts';
import { registerNetwork } from './library/network.ts';
import { registerQuantities } from './library/quantity.ts';
import { registerStrings } from './library/strings.ts';
import { forChecking, forEvaluating, nodesOf, openingOfHas } from './rewrite.ts';
import { declareType } from './schema-types.ts';

/** A compiled expression. `run` throws evaluation errors. */
export interface Program {
  usesOldSelf: boolean;
  /** Of the result, as far as the type checker knows it. */
  type: string;
  run(variables: { self: unknown; oldSelf?: unknown }): unknown;
}

/** The CEL library of Kubernetes, before the type of the object is declared. */
const library = new Environment({ enableOptionalTypes: true, limits: { maxDepth: 100, maxListElements: 10_000 } });
registerStrings(library);
registerLists(library);
registerQuantities(library);
registerNetwork(library);

/** Functions of the evaluator that Kubernetes does not have. */
const evaluatorOnly = new Set(['bind', 'json', 'hex', 'base64', 'at']);
const functionNames = new Set(
  library
    .getDefinitions()
    .functions.map(({ name }) => name)
    .filter((name) => !evaluatorOnly.has(name)),
);

/** Evaluation needs no schema: the expression is type-checked, and values carry their types. */
const evaluation = library
  .clone({ homogeneousAggregateLiterals: false })
  .registerVariable('self', 'dyn')
  .registerVariable('oldSelf', 'dyn');

/** Functions of Kubernetes that are missing here. A rule that uses one is refused, since it would never be enforced. */
const unsupportedFunctions = new Set(
  'optMap optFlatMap sortBy transformList transformMap transformMapEntry existsOne range first last quote semver isSemver major minor patch named validate getQuery isCanonical isUnspecified isLoopback isLinkLocalMulticast isLinkLocalUnicast isGlobalUnicast masked'.split(
    ' ',
  ),
);

const hasTwoVariables = (name: string, node: ASTNode): boolean =>
  ['all', 'exists', 'exists_one'].includes(name) && node.op === 'rcall' && node.args[2].length === 3;

/** A call of a function that does not exist, as opposed to one with wrong arguments. */
const unknownFunction = (nodes: readonly ASTNode[]): CompileError | undefined => {
  for (const node of nodes) {
    if (node.op !== 'call' && node.op !== 'rcall') continue;
    const name = node.args[0];
    const position = node.input.indexOf('(', node.op === 'rcall' ? node.args[1].end : node.start);
    if (hasTwoVariables(name, node))
      return { position, text: `the embedded server does not have '${name}' with two variables` };
    if (functionNames.has(name)) continue;
    if (unsupportedFunctions.has(name)) return { position, text: `the embedded server does not have '${name}'` };
    return { position, text: `undeclared reference to '${name}' (in container '')` };
  }
  return undefined;
};

const invalidPattern = (nodes: readonly ASTNode[]): CompileError | undefined => {
  for (const node of nodes) {
    const pattern = node.op === 'rcall' && node.args[0] === 'matches' ? node.args[2][0] : undefined;
    if (pattern?.op !== 'value' || typeof pattern.args !== 'string') continue;
    if (compilePattern(pattern.args) instanceof Error)
      return { position: pattern.start, text: 'invalid matches argument' };
  }
  return undefined;
};

const tryRun = <T>(run: () => T): T | Error => {
  try {
    return run();
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
};

/** Compiles rules that see a value of one schema as `self`. */
export interface Scope {
  compile(source: string, optionalOldSelf: boolean): Program | { failure: string };
}

export const scopeOf = (schema: Schema, isRoot: boolean): Scope | undefined => {
  const environments = [false, true].map((optional) => {
    const environment = library.clone();
    const type = declareType(environment, schema, isRoot);
    if (type === undefined) return undefined;
    return environment
      .registerVariable('self', type)
      .registerVariable('oldSelf', optional ? `optional<${type}>` : type);
  });
  const [plain, optional] = environments;
  if (!plain || !optional) return undefined;
  return { compile: (source, optionalOldSelf) => compile(source, optionalOldSelf ? optional : plain) };
};

/** The real server reports an undefined field at the dot before it. */
const placeOf = (position: number, text: string, source: string, ast: ASTNode): number => {
  if (!text.startsWith('undefined field')) return position;
  return openingOfHas(source, ast, position) ?? source.lastIndexOf('.', position);
};

const compile = (source: string, environment: Environment): Program | { failure: string } => {
  const parsed = tryRun(() => evaluation.parse(source));
  if (parsed instanceof Error) return { failure: printCompileError(compileErrorOf(parsed), source) };
  const nodes = nodesOf(parsed.ast);
  const issue = unknownFunction(nodes) ?? invalidPattern(nodes);
  if (issue) return { failure: printCompileError(issue, source) };
  const checked = forChecking(source, parsed.ast);
  const { valid, type = 'dyn', error } = environment.check(checked.source);
  if (!valid) {
    const { position, text } = compileErrorOf(error);
    return {
      failure: printCompileError(
        { position: placeOf(checked.original(position), text, source, parsed.ast), text },
        source,
      ),
    };
  }
  const program = tryRun(() => evaluation.parse(forEvaluating(source, parsed.ast)));
  if (program instanceof Error) return { failure: printCompileError(compileErrorOf(program), source) };
  return {
    usesOldSelf: nodes.some((node) => node.op === 'id' && node.args === 'oldSelf'),
    type,
    run: (variables) => program(variables),
  };
};
