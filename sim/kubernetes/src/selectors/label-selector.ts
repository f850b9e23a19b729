import { badRequest } from '../errors/api-error.ts';
import {
  keyError,
  type LabelOperator,
  type LabelRequirement,
  requirementMatches,
  valueError,
} from './label-requirement.ts';

/** A word, a symbol, or (text '') the end. `in` and `notin` are words: only their position makes them operators. */
interface Token {
  kind: 'word' | 'symbol' | 'end';
  text: string;
}

const blank = /[ \t\r\n]*/y;
const symbol = /==|!=|[=!(),<>]/y;
const word = /[^=!(),<> \t\r\n]+/y;

/** Every character is blank, a symbol or part of a word, so this cannot fail. The last token is the end. */
const labelTokens = (text: string): Token[] => {
  const tokens: Token[] = [];
  let position = 0;
  const take = (pattern: RegExp): string => {
    pattern.lastIndex = position;
    const found = pattern.exec(text)?.[0] ?? '';
    position += found.length;
    return found;
  };
  for (take(blank); position < text.length; take(blank)) {
    const found = take(symbol);
    tokens.push(found === '' ? { kind: 'word', text: take(word) } : { kind: 'symbol', text: found });
  }
  tokens.push({ kind: 'end', text: '' });
  return tokens;
};

const queryOperators: Record<string, LabelOperator> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

const end: Token = { kind: 'end', text: '' };

const requirementError = (text: string): Error => badRequest(`unable to parse requirement: ${text}`);
const unexpectedToken = (token: Token, expected: string): Error =>
  requirementError(`found '${token.text}', expected: ${expected}`);

const isSymbol = (token: Token, text: string): boolean => token.kind === 'symbol' && token.text === text;
const startsRequirement = (token: Token): boolean => token.kind === 'word' || isSymbol(token, '!');

const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort();

/**
 * Requirements in the order of the text. The grammar also allows an empty value (`a=`), empty entries in a list (`a in (,b)`), and `in` and
 * `notin` as keys and values.
 */
export const parseLabelRequirements = (text: string): LabelRequirement[] => {
  const tokens = labelTokens(text);
  let position = 0;
  const peek = (): Token => tokens[position] ?? end;
  const next = (): Token => {
    const token = peek();
    position += 1;
    return token;
  };

  const list = (): string[] => {
    const open = next();
    if (!isSymbol(open, '(')) throw requirementError(`found '${open.text}' expected: '('`);
    const first = peek();
    if (isSymbol(first, ')')) {
      next();
      return [''];
    }
    if (first.kind !== 'word' && !isSymbol(first, ',')) throw unexpectedToken(first, "',', ')' or identifier");
    const values: string[] = [];
    for (;;) {
      const token = next();
      if (token.kind === 'word') {
        values.push(token.text);
        if (!isSymbol(peek(), ',') && !isSymbol(peek(), ')')) throw unexpectedToken(peek(), "',' or ')'");
      } else if (isSymbol(token, ',')) {
        if (values.length === 0 || isSymbol(peek(), ',') || isSymbol(peek(), ')')) values.push('');
      } else {
        throw unexpectedToken(token, "',', or identifier");
      }
      if (isSymbol(peek(), ')')) {
        next();
        return values;
      }
    }
  };

  const exactValue = (): string[] => {
    if (peek().kind === 'end' || isSymbol(peek(), ',')) return [''];
    const token = next();
    if (token.kind !== 'word') throw unexpectedToken(token, 'identifier');
    return [token.text];
  };

  const requirement = (): LabelRequirement => {
    const negated = isSymbol(peek(), '!');
    if (negated) next();
    const key = next();
    if (key.kind !== 'word') throw unexpectedToken(key, 'identifier');
    const fault = keyError(key.text);
    if (fault !== undefined) throw requirementError(fault);
    if (negated) return { key: key.text, operator: '!', values: [] };
    if (peek().kind === 'end' || isSymbol(peek(), ',')) return { key: key.text, operator: 'exists', values: [] };
    const token = next();
    const operator = Object.hasOwn(queryOperators, token.text) ? queryOperators[token.text] : undefined;
    if (operator === undefined) throw unexpectedToken(token, 'in, notin, =, ==, !=, gt, lt');
    const values = sorted(operator === 'in' || operator === 'notin' ? list() : exactValue());
    return { key: key.text, operator, values };
  };

  const requirements: LabelRequirement[] = [];
  for (;;) {
    if (peek().kind === 'end') return requirements;
    if (!startsRequirement(peek())) {
      throw badRequest(`found '${peek().text}', expected: !, identifier, or 'end of string'`);
    }
    const parsed = requirement();
    const fault = valueError(parsed);
    if (fault !== undefined) throw requirementError(fault);
    requirements.push(parsed);
    const separator = next();
    if (separator.kind === 'end') return requirements;
    if (!isSymbol(separator, ',')) throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
    if (!startsRequirement(peek())) throw badRequest(`found '${peek().text}', expected: identifier after ','`);
  }
};

type Labels = Record<string, string>;

/** metav1.LabelSelector. */
export interface LabelSelector {
  matchLabels?: Labels;
  matchExpressions?: { key: string; operator: string; values?: string[] }[];
}

/** The `labelSelector` of a query. Throws a 400 with the parser's text. The empty text matches everything. */
export const parseLabelSelector = (text: string): ((labels: Labels | undefined) => boolean) => {
  const requirements = parseLabelRequirements(text);
  return (labels = {}) => requirements.every((requirement) => requirementMatches(requirement, labels));
};

const operators: Record<string, LabelOperator> = { In: 'in', NotIn: 'notin', Exists: 'exists', DoesNotExist: '!' };

/** The requirements of a selector, sorted by key as the real server prints them. */
export const requirementsOf = (selector: LabelSelector): LabelRequirement[] => {
  const expressions = (selector.matchExpressions ?? []).map(({ key, operator: name, values = [] }) => {
    const operator = Object.hasOwn(operators, name) ? operators[name] : undefined;
    if (operator === undefined) throw badRequest(`${JSON.stringify(name)} is not a valid label selector operator`);
    return { key, operator, values: [...values].sort() };
  });
  const exact = Object.entries(selector.matchLabels ?? {}).map(([key, value]) => ({
    key,
    operator: '=' as const,
    values: [value],
  }));
  return [...exact, ...expressions].sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : 0));
};

/** An empty selector matches everything. */
export const labelSelectorMatches = (selector: LabelSelector, labels: Labels | undefined): boolean =>
  requirementsOf(selector).every((requirement) => requirementMatches(requirement, labels ?? {}));
