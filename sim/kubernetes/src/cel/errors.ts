import type { ASTNode } from '@marcbachmann/cel-js';
import { isObject } from '../object.ts';

/** Why an expression does not compile, in the words of the real server. */
export interface CompileError {
  position: number;
  text: string;
}

interface Failure {
  code?: string;
  summary?: string;
  message: string;
  range?: { start: number; end: number };
  node?: unknown;
}

/** Type names of the evaluator, in the spelling of cel-go. */
const typeName = (name: string): string =>
  name
    .replaceAll('google.protobuf.Timestamp', 'timestamp')
    .replaceAll('google.protobuf.Duration', 'duration')
    .replaceAll(/object\d+/g, 'object')
    .replaceAll('<', '(')
    .replaceAll('>', ')');

const operators = /^no such overload: (.+) (==|!=|<=|>=|<|>|\+|-|\*|\/|%|in) (.+)$/;

const isAst = (node: unknown): node is ASTNode =>
  typeof node === 'object' && node !== null && 'op' in node && 'input' in node;

const operandsOf = ({ args }: { args: unknown }): ASTNode[] => (Array.isArray(args) ? args.filter(isAst) : []);

/** The position of `text` after the first operand. */
const behindFirst = (node: ASTNode, text: string): number =>
  node.input.indexOf(text, operandsOf(node)[0]?.end ?? node.start);

/** The type that the checker stored on a node. */
const checkedType = (node: object | undefined): string => {
  const type: unknown = node && 'checkedType' in node ? node.checkedType : undefined;
  return isObject(type) && typeof type['name'] === 'string' ? typeName(type['name']) : 'dyn';
};

/** The position that cel-go reports for a node: its operator, not its start. */
const errorPosition = (node: ASTNode): number => {
  if (node.op === '.' || node.op === '.?') return behindFirst(node, '.');
  return node.op === '[]' || node.op === '[?]' ? behindFirst(node, '[') : node.start;
};

const describe = (failure: Failure): CompileError => {
  const position = failure.range?.start ?? 0;
  const summary = failure.summary ?? failure.message;
  const node = isAst(failure.node) ? failure.node : undefined;
  switch (failure.code) {
    case 'no_such_key':
      return { position, text: `undefined field '${summary.replace('No such key: ', '')}'` };
    case 'unknown_variable':
      return {
        position,
        text: `undeclared reference to '${summary.replace('Unknown variable: ', '')}' (in container '')`,
      };
    case 'no_such_overload': {
      const [, left = '', operator = '', right = ''] = operators.exec(summary) ?? [];
      const unary = /^no such overload: ([!-])(.+)$/.exec(summary);
      if (unary) {
        return {
          position,
          text: `found no matching overload for '${unary[1]}_' applied to '(${typeName(unary[2] ?? '')})'`,
        };
      }
      if (operator === '' || !node) return { position, text: summary };
      const name = operator === 'in' ? '@in' : `_${operator}_`;
      return {
        position: behindFirst(node, operator),
        text: `found no matching overload for '${name}' applied to '(${typeName(left)}, ${typeName(right)})'`,
      };
    }
    case 'no_matching_overload': {
      const [, receiver, name = '', types = ''] = /for '(?:(.+)\.)?(\w+)\((.*)\)'$/.exec(summary) ?? [];
      const open = node
        ? node.input.indexOf('(', Math.max(node.start, node.input.indexOf(name, node.start)))
        : position;
      const applied = receiver === undefined ? `(${typeName(types)})` : `${typeName(receiver)}.(${typeName(types)})`;
      return { position: open, text: `found no matching overload for '${name}' applied to '${applied}'` };
    }
    case 'invalid_logical_operand': {
      const type = typeName(/'(.*)'$/.exec(summary)?.[1] ?? '');
      const operand = node && operandsOf(node).find((part) => checkedType(part) === type);
      return {
        position: operand ? errorPosition(operand) : position,
        text: `expected type 'bool' but found '${type}'`,
      };
    }
    case 'cannot_index_type':
    case 'invalid_index_type': {
      const [left, index] = node ? operandsOf(node) : [];
      if (!node || !left || !index)
        return {
          position: node ? errorPosition(node) : position,
          text: `type '${checkedType(left)}' does not support field selection`,
        };
      return {
        position: errorPosition(node),
        text: `found no matching overload for '_[_]' applied to '(${checkedType(left)}, ${checkedType(index)})'`,
      };
    }
    case 'heterogeneous_list_element':
    case 'heterogeneous_map_key':
    case 'heterogeneous_map_value':
      return { position, text: typeName(summary.slice(summary.indexOf('expected type'))) };
    case 'unexpected_token':
    case undefined:
      return { position, text: `Syntax error: ${summary}` };
    default:
      return { position, text: summary };
  }
};

export const compileErrorOf = (error: unknown): CompileError =>
  error instanceof Error ? describe(error) : { position: 0, text: String(error) };

/** As cel-go prints it: position, text, the line, and a marker below it. */
export const printCompileError = ({ position, text }: CompileError, source: string): string => {
  const before = source.slice(0, Math.max(0, position)).split('\n');
  const column = before.at(-1)?.length ?? 0;
  const line = source.split('\n')[before.length - 1] ?? '';
  return `ERROR: <input>:${before.length}:${column + 1}: ${text}\n | ${line}\n | ${'.'.repeat(column)}^`;
};

interface RuntimeFailure {
  code?: string;
  summary?: string;
  message: string;
}

const failureText = ({ code, summary, message }: RuntimeFailure): string => {
  const text = summary ?? message;
  switch (code) {
    case 'no_such_key':
      return text.replace('No such key', 'no such key');
    case 'index_out_of_bounds':
      return `index out of bounds: ${/index (-?\d+)/.exec(text)?.[1] ?? ''}`;
    case 'modulo_by_zero':
      return 'modulus by zero';
    case 'numeric_overflow':
      return 'integer overflow';
    case 'no_such_overload':
    case 'no_matching_overload':
      return 'no such overload';
    case undefined:
    default:
      return text;
  }
};

/** A runtime error of a rule, in the words of the real server. */
export const runtimeErrorText = (error: unknown, rule: string): string => {
  const text = error instanceof Error ? failureText(error) : String(error);
  return text.startsWith('no such overload')
    ? `'${text}': call arguments did not match a supported operator, function or macro signature for rule: ${rule}`
    : `${text} evaluating rule: ${rule}`;
};
