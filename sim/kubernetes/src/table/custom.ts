import { isObject, type Json } from '../object.ts';
import { age, type Column, type Columns, nameColumn, nameOf } from './columns.ts';
import { count, type Fields, text } from './fields.ts';
import { JsonPathError, jsonPath } from './json-path.ts';
import { printed } from './printed.ts';

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

/** A value that does not fit its column leaves the cell empty. */
const cellOf = (type: Column['type'], value: unknown, now: number): Json => {
  if (type === 'string') return printed(value);
  if (type === 'integer') return typeof value === 'number' ? Math.trunc(value) : null;
  if (type === 'number') return typeof value === 'number' ? value : null;
  if (type === 'boolean') return typeof value === 'boolean' ? value : null;
  return typeof value === 'string' ? dateCell(value, now) : null;
};

const columnOf = (column: Fields): CustomColumn => {
  const path = text(column, 'jsonPath');
  const type = types.find((known) => known === column['type']) ?? 'string';
  const find = jsonPath(path);
  return {
    definition: {
      name: text(column, 'name'),
      type,
      format: text(column, 'format'),
      description: text(column, 'description') || `Custom resource definition column (in JSONPath format): ${path}`,
      priority: count(column, 'priority'),
    },
    cell: (object, now) => {
      const found = find(object);
      return found.length === 0 ? null : cellOf(type, found[0], now);
    },
  };
};

/** The real server shows the columns up to the first whose path it does not understand. */
const understood = (columns: readonly Fields[]): CustomColumn[] => {
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

const byDefault: Fields[] = [{ name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' }];

/** The columns of a custom resource: its name, and what `additionalPrinterColumns` of its version say. */
export const customColumns = (additionalPrinterColumns: unknown): Columns => {
  const given = Array.isArray(additionalPrinterColumns) ? additionalPrinterColumns.filter(isObject) : [];
  const columns = understood(given.length === 0 ? byDefault : given);
  return {
    definitions: [nameColumn, ...columns.map(({ definition }) => definition)],
    cells: (object, now) => [nameOf(object), ...columns.map((column) => column.cell(object, now))],
  };
};
