export { assertSelectable } from './selectable.ts';
import { badRequest } from '../status/api-error.ts';

export interface FieldRequirement {
  field: string;
  operator: '=' | '!=';
  value: string;
}

/** Between commas that no backslash stands before. */
const terms = (text: string): string[] => {
  const found: string[] = [];
  let start = 0;
  for (let index = 0; index < text.length; index += 1) {
    if (text[index] === '\\') {
      index += 1;
    } else if (text[index] === ',') {
      found.push(text.slice(start, index));
      start = index + 1;
    }
  }
  return [...found, text.slice(start)].filter((term) => term !== '').sort();
};

const unescaped = (text: string): string => {
  let value = '';
  for (let index = 0; index < text.length; index += 1) {
    const character = text[index] ?? '';
    if (character === ',' || character === '=') {
      throw badRequest(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`);
    }
    if (character !== '\\') {
      value += character;
      continue;
    }
    index += 1;
    const escaped = String.fromCodePoint(...[text.codePointAt(index)].filter((code) => code !== undefined));
    if (escaped === '' || !'\\,='.includes(escaped)) {
      throw badRequest(`invalid field selector: invalid escape sequence: \\${escaped}`);
    }
    value += escaped;
  }
  return value;
};

/**
 * The `fieldSelector` of a query, sorted as the real server does, so that of several faults the same one is reported. Throws a
 * 400 with the parser's words.
 */
export const parseFieldSelector = (text: string): FieldRequirement[] =>
  terms(text).map((term) => {
    const operator = /!=|==|=/.exec(term);
    if (operator === null) throw badRequest(`invalid selector: '${text}'; can't understand '${term}'`);
    return {
      field: term.slice(0, operator.index),
      operator: operator[0] === '!=' ? '!=' : '=',
      value: unescaped(term.slice(operator.index + operator[0].length)),
    };
  });

export const printFieldSelector = (requirements: readonly FieldRequirement[]): string =>
  requirements.map(({ field, operator, value }) => `${field}${operator}${value.replace(/[\\,=]/g, '\\$&')}`).join(',');

/** A field that the object does not have counts as empty. */
export const matchesFields = (
  requirements: readonly FieldRequirement[],
  fields: Readonly<Record<string, string>>,
): boolean =>
  requirements.every(
    ({ field, operator, value }) =>
      (operator === '=') === ((Object.hasOwn(fields, field) ? fields[field] : '') === value),
  );
