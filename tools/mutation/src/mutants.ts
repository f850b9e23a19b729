import { type ESTree, parseSync, Visitor } from 'rolldown/utils';

/** One change of a file: the characters from `start` to `end` become `text`. */
export interface Mutant {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly line: number;
  /** The smallest expression or statement that changes, before and after. */
  readonly original: string;
  readonly mutated: string;
}

const operators: Readonly<Record<string, readonly string[]>> = {
  '<': ['<=', '>='],
  '<=': ['<', '>'],
  '>': ['>=', '<='],
  '>=': ['>', '<'],
  '===': ['!=='],
  '!==': ['==='],
  '&&': ['||'],
  '||': ['&&'],
  '+': ['-'],
  '-': ['+'],
  '*': ['/'],
  '/': ['*'],
  '+=': ['-='],
  '-=': ['+='],
};
const calls: Readonly<Record<string, string>> = { some: 'every', every: 'some', min: 'max', max: 'min' };
const droppedCalls: ReadonlySet<string> = new Set(['filter', 'slice', 'sort', 'toSorted', 'reverse']);

const ignored = /\/\/ mutation: equivalent, \S/;

type Range = Pick<ESTree.Node, 'start' | 'end'>;

const isText = (node: ESTree.Node): boolean =>
  node.type === 'TemplateLiteral' || (node.type === 'Literal' && typeof node.value === 'string');

/** Probably a member of a union: a few words without punctuation. Sentences are messages for people, not policy. */
const isWord = (value: string): boolean => /^[\w./-]+( [\w./-]+){0,3}$/.test(value);

/** `!x` and comparisons have mutants of their own that negate them. */
const isNegatedElsewhere = (test: ESTree.Expression): boolean =>
  (test.type === 'UnaryExpression' && test.operator === '!') ||
  (test.type === 'BinaryExpression' && test.operator in operators);

/** Every mutant of a file, ordered by position. */
export const mutantsOf = (code: string): readonly Mutant[] => {
  const { program, errors } = parseSync('file.ts', code);
  const [problem] = errors;
  if (problem !== undefined) throw new SyntaxError(problem.message);
  const lines = code.split('\n');
  const found = new Map<string, Mutant>();
  /** Literals that are not values: module specifiers, keys and types. */
  const notValues = new Set<ESTree.Node>();

  const add = ({ start, end }: Range, text: string, context: Range): void => {
    const line = code.slice(0, start).split('\n').length;
    if (ignored.test(lines[line - 1] ?? '')) return;
    const original = code.slice(context.start, context.end);
    const mutated = code.slice(context.start, start) + text + code.slice(end, context.end);
    found.set(`${start} ${end} ${text}`, { start, end, text, line, original, mutated });
  };
  const between = (left: Range, right: Range, sign: string): Range => {
    const start = code.indexOf(sign, left.end);
    return start < right.start ? { start, end: start + sign.length } : left;
  };
  const swap = (node: ESTree.BinaryExpression | ESTree.LogicalExpression | ESTree.AssignmentExpression): void => {
    if (node.operator === '+' && (isText(node.left) || isText(node.right))) return;
    for (const other of operators[node.operator] ?? []) add(between(node.left, node.right, node.operator), other, node);
  };
  const negate = (test: ESTree.Expression): void => {
    if (!isNegatedElsewhere(test)) add(test, `!(${code.slice(test.start, test.end)})`, test);
  };
  const returnUndefined = (value: ESTree.Node, context: Range): void => {
    if (code.slice(value.start, value.end) !== 'undefined') add(value, 'undefined', context);
  };

  new Visitor({
    ImportDeclaration: ({ source }) => void notValues.add(source),
    ExportNamedDeclaration: ({ source }) => void (source && notValues.add(source)),
    ExportAllDeclaration: ({ source }) => void notValues.add(source),
    Property: ({ key, computed }) => void (computed || notValues.add(key)),
    TSLiteralType: ({ literal }) => void notValues.add(literal),
    BinaryExpression: swap,
    AssignmentExpression: swap,
    LogicalExpression: (node) => {
      if (node.operator !== '??') return swap(node);
      add({ start: node.left.end, end: node.end }, '', node);
      add({ start: node.start, end: node.right.start }, '', node);
    },
    UnaryExpression: (node) => {
      if (node.operator === '!') add({ start: node.start, end: node.argument.start }, '', node);
    },
    ExpressionStatement: (node) => add(node, ';', node),
    IfStatement: ({ test }) => negate(test),
    WhileStatement: ({ test }) => negate(test),
    ConditionalExpression: ({ test }) => negate(test),
    Literal: (node) => {
      if (notValues.has(node)) return;
      if (typeof node.value === 'boolean') add(node, String(!node.value), node);
      if (typeof node.value === 'string' && isWord(node.value)) add(node, "''", node);
    },
    ArrayExpression: (node) => {
      if (node.elements.length > 0) add(node, '[]', node);
    },
    ReturnStatement: (node) => {
      if (node.argument) returnUndefined(node.argument, node);
    },
    ArrowFunctionExpression: (node) => {
      if (node.body.type !== 'BlockStatement') returnUndefined(node.body, node);
    },
    MemberExpression: (node) => {
      const dot = between(node.object, node.property, '?.');
      if (node.optional) add(dot, node.computed ? '' : '.', node);
    },
    CallExpression: (node) => {
      const { callee } = node;
      if (node.optional) add(between(callee, { start: node.end, end: node.end }, '?.'), '', node);
      if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier') return;
      const { name } = callee.property;
      if (droppedCalls.has(name)) add({ start: callee.object.end, end: node.end }, '', node);
      const other = calls[name];
      if (other !== undefined) add(callee.property, other, node);
    },
  }).visit(program);
  return [...found.values()].sort((a, b) => a.start - b.start || a.end - b.end);
};
