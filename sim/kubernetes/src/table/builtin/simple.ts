import { ageColumn, ageOf, column, type Columns, nameColumn, nameOf } from '../columns.ts';
import { fields, text } from '../fields.ts';

/** Kinds with a name, an age, and little between. */

const size = (object: unknown, field: string): number => Object.keys(fields(object, field)).length;

export const namespaces: Columns = {
  definitions: [nameColumn, column('Status'), ageColumn],
  cells: (object, now) => [nameOf(object), text(object, 'status', 'phase'), ageOf(object, now)],
};

export const secrets: Columns = {
  definitions: [nameColumn, column('Type'), column('Data'), ageColumn],
  cells: (object, now) => [nameOf(object), text(object, 'type'), size(object, 'data'), ageOf(object, now)],
};

export const configMaps: Columns = {
  definitions: [nameColumn, column('Data'), ageColumn],
  cells: (object, now) => [nameOf(object), size(object, 'data') + size(object, 'binaryData'), ageOf(object, now)],
};

export const leases: Columns = {
  definitions: [nameColumn, column('Holder'), ageColumn],
  cells: (object, now) => [nameOf(object), text(object, 'spec', 'holderIdentity'), ageOf(object, now)],
};
