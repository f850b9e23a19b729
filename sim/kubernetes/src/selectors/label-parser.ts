import { badRequest } from '../status/api-error.ts';
import { keyFault, type LabelOperator, type LabelRequirement, valueFault } from './label-requirement.ts';
import { labelTokens, type Token } from './label-tokens.ts';

const operators: Record<string, LabelOperator> = {
  in: 'in',
  notin: 'notin',
  '=': '=',
  '==': '==',
  '!=': '!=',
  '>': 'gt',
  '<': 'lt',
};

const end: Token = { kind: 'end', text: '' };

const requirementFault = (text: string): Error => badRequest(`unable to parse requirement: ${text}`);
const found = (token: Token, expected: string): Error =>
  requirementFault(`found '${token.text}', expected: ${expected}`);

const isSymbol = (token: Token, text: string): boolean => token.kind === 'symbol' && token.text === text;
const startsRequirement = (token: Token): boolean => token.kind === 'word' || isSymbol(token, '!');

const sorted = (values: Iterable<string>): string[] => [...new Set(values)].sort();

/**
 * Requirements in the order in which they stand. What the grammar allows besides the obvious: an empty value (`a=`), empty
 * entries in a list (`a in (,b)`), and `in` and `notin` as keys and values.
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
    if (!isSymbol(open, '(')) throw requirementFault(`found '${open.text}' expected: '('`);
    const first = peek();
    if (isSymbol(first, ')')) {
      next();
      return [''];
    }
    if (first.kind !== 'word' && !isSymbol(first, ',')) throw found(first, "',', ')' or identifier");
    const values: string[] = [];
    for (;;) {
      const token = next();
      if (token.kind === 'word') {
        values.push(token.text);
        if (!isSymbol(peek(), ',') && !isSymbol(peek(), ')')) throw found(peek(), "',' or ')'");
      } else if (isSymbol(token, ',')) {
        if (values.length === 0 || isSymbol(peek(), ',') || isSymbol(peek(), ')')) values.push('');
      } else {
        throw found(token, "',', or identifier");
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
    if (token.kind !== 'word') throw found(token, 'identifier');
    return [token.text];
  };

  const requirement = (): LabelRequirement => {
    const negated = isSymbol(peek(), '!');
    if (negated) next();
    const key = next();
    if (key.kind !== 'word') throw found(key, 'identifier');
    const fault = keyFault(key.text);
    if (fault !== undefined) throw requirementFault(fault);
    if (negated) return { key: key.text, operator: '!', values: [] };
    if (peek().kind === 'end' || isSymbol(peek(), ',')) return { key: key.text, operator: 'exists', values: [] };
    const token = next();
    const operator = Object.hasOwn(operators, token.text) ? operators[token.text] : undefined;
    if (operator === undefined) throw found(token, 'in, notin, =, ==, !=, gt, lt');
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
    const fault = valueFault(parsed);
    if (fault !== undefined) throw requirementFault(fault);
    requirements.push(parsed);
    const separator = next();
    if (separator.kind === 'end') return requirements;
    if (!isSymbol(separator, ',')) throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
    if (!startsRequirement(peek())) throw badRequest(`found '${peek().text}', expected: identifier after ','`);
  }
};
