import { isObject, type Json } from '../object.ts';
import { type Fields, nestedNumber, nestedString } from '../unstructured.ts';
import { age, type Column, type Columns, nameColumn, nameOf } from './columns.ts';
import { jsonPath, JsonPathError } from './json-path.ts';

/** As Go: HTML characters escaped, keys sorted. */
const printJson = (value: unknown): string => {
  const sorted = (part: unknown): unknown => {
    if (Array.isArray(part)) return part.map(sorted);
    if (!isObject(part)) return part;
    return Object.fromEntries(
      Object.keys(part)
        .sort()
        .map((key) => [key, sorted(part[key])]),
    );
  };
  return JSON.stringify(sorted(value)).replace(
    /[<>&\u2028\u2029]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
};

/** Go prints small fractions, and those with seven digits before the point, with an exponent. */
const printNumber = (value: number): string => {
  if (Number.isInteger(value)) return String(value);
  const exponent = Math.floor(Math.log10(Math.abs(value)));
  if (exponent >= -4 && exponent < 6) return String(value);
  return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
};

/** A value in a column of type string. */
const printValue = (value: unknown): string => {
  if (value === null || value === undefined) return '<no value>';
  if (typeof value === 'string') return value;
  if (typeof value === 'number') return printNumber(value);
  return printJson(value);
};

interface CustomColumn {
  definition: Column;
  cell(object: unknown, now: number): Json;
}

const types: readonly Column['type'][] = ['string', 'integer', 'number', 'boolean', 'date'];

const timestamp = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/;

const dateCell = (value: string, now: number): string => {
  if (value === '' || value === 'null') return '<unknown>';
  return timestamp.test(value) ? age(value, now) : '<invalid>';
};

/** A value of the wrong type leaves the cell empty. */
const cellOf = (type: Column['type'], value: unknown, now: number): Json => {
  if (type === 'string') return printValue(value);
  if (type === 'integer') return typeof value === 'number' ? Math.trunc(value) : null;
  if (type === 'number') return typeof value === 'number' ? value : null;
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  return typeof value === 'string' ? dateCell(value, now) : null;
};

const columnOf = (column: Fields): CustomColumn => {
  const path = nestedString(column, 'jsonPath');
  const type = types.find((known) => known === column['type']) ?? 'string';
  const find = jsonPath(path);
  return {
    definition: {
      name: nestedString(column, 'name'),
      type,
      format: nestedString(column, 'format'),
      description:
        nestedString(column, 'description') || `Custom resource definition column (in JSONPath format): ${path}`,
      priority: nestedNumber(column, 'priority'),
    },
    cell: (object, now) => {
      const found = find(object);
      return found.length === 0 ? null : cellOf(type, found[0], now);
    },
  };
};

/** The real server shows the columns up to the first one with an invalid path. */
const parseColumns = (columns: readonly Fields[]): CustomColumn[] => {
  const result: CustomColumn[] = [];
  for (const column of columns) {
    try {
      result.push(columnOf(column));
    } catch (error) {
      if (error instanceof JsonPathError) return result;
      throw error;
    }
  }
  return result;
};

const defaultColumns: Fields[] = [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }];

/** The columns of a custom resource: its name, and `additionalPrinterColumns` of its version. */
export const customColumns = (additionalPrinterColumns: unknown): Columns => {
  const given = Array.isArray(additionalPrinterColumns) ? additionalPrinterColumns.filter(isObject) : [];
  const columns = parseColumns(given.length === 0 ? defaultColumns : given);
  return {
    definitions: [nameColumn, ...columns.map(({ definition }) => definition)],
    cells: (object, now) => [nameOf(object), ...columns.map((column) => column.cell(object, now))],
  };
};
