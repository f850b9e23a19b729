import { z } from 'zod';
import { explainDocument } from '../explain/document.ts';
import { faultsDocument } from '../fault/document.ts';
import { fleetDocument } from '../fleet/document.ts';
import { orphansDocument } from '../orphans/document.ts';
import { poolDocument } from '../pool/document.ts';
import { rollDocument } from '../roll/document.ts';
import { pausedDocument } from '../roll/paused-document.ts';
import { runnersDocument } from '../runners/document.ts';
import { versionDocument } from '../version/document.ts';

/** What `-o json` prints, by command. One home: types, tests and docs are made of it. */
export const schemas: Readonly<Record<string, z.ZodType>> = {
  'fault list': faultsDocument,
  fleet: fleetDocument,
  explain: explainDocument,
  pool: poolDocument,
  runners: runnersDocument,
  orphans: orphansDocument,
  'roll status': rollDocument,
  'roll pause': pausedDocument,
  'roll resume': pausedDocument,
  version: versionDocument,
};

export interface Field {
  readonly path: string;
  readonly type: string;
  readonly description: string;
}

/** JSON Schema, as far as ours use it. */
const node = z.looseObject({
  type: z.union([z.string(), z.array(z.string())]).optional(),
  const: z.string().optional(),
  enum: z.array(z.string().nullable()).optional(),
  description: z.string().optional(),
  anyOf: z.array(z.unknown()).optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
  items: z.unknown().optional(),
});

export const fieldsOf = (schema: z.ZodType): Field[] => fieldsBelow('', z.toJSONSchema(schema));

const fieldsBelow = (path: string, value: unknown): Field[] => {
  const schema = node.parse(value);
  const [inner, isNullable] = unwrapped(schema);
  const own =
    path === ''
      ? []
      : [{ path, type: typeOf(inner, isNullable), description: schema.description ?? inner.description ?? '' }];
  const properties = inner.properties ?? {};
  const prefix = path === '' ? '' : `${path}.`;
  const below = Object.entries(properties).flatMap(([name, each]) => fieldsBelow(`${prefix}${name}`, each));
  const items = inner.items === undefined ? [] : fieldsBelow(`${path}[]`, inner.items);
  // That a list holds objects shows in the fields of these.
  return [...own, ...below, ...items.filter(({ path: at, type }) => !(at === `${path}[]` && type === 'object'))];
};

type Node = z.infer<typeof node>;

/** Both ways in which something may be null: in a list of types, or as one of several schemas. */
const unwrapped = (schema: Node): [Node, isNullable: boolean] => {
  const { type, anyOf = [] } = schema;
  if (Array.isArray(type)) return [{ ...schema, type: type.find((each) => each !== 'null') }, type.includes('null')];
  const options = anyOf.map((each) => node.parse(each));
  const inner = options.find((each) => each.type !== 'null');
  return inner === undefined ? [schema, false] : [inner, options.some((each) => each.type === 'null')];
};

const typeOf = ({ const: only, enum: words, type }: Node, isNullable: boolean): string => {
  const word =
    only ?? words?.filter((each) => each !== null).join(', ') ?? (type === 'array' ? 'list' : String(type ?? 'object'));
  return isNullable ? `${word}, or null` : word;
};
