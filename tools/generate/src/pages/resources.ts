import { kinds } from '@tartan/api';
import { type AnyKind, schemaOf, type StructuralSchema } from '@tartan/api/crds';
import { code, codes, generated, row, table } from './markdown.ts';

/** The reference of the custom resources, for people who use kubectl. */

const typeName = (schema: StructuralSchema): string => {
  if (schema.items !== undefined) return `list of ${typeName(schema.items)}`;
  if (schema.additionalProperties !== undefined) return `map of ${typeName(schema.additionalProperties)}`;
  if (schema.format === 'date-time') return 'time';
  return schema.enum === undefined ? schema.type : codes(schema.enum.map(String));
};

/** All lists of conditions have the same fields. */
const isLeaf = (path: string): boolean => path === 'status.conditions';

const fieldRows = (path: string, schema: StructuralSchema, required: boolean): string[] => {
  const inner = isLeaf(path) ? {} : (schema.items?.properties ?? schema.properties ?? {});
  const needed = schema.items?.required ?? schema.required ?? [];
  const { default: value } = schema;
  const isScalar = typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean';
  const notes = [required ? 'required' : '', isScalar ? `default ${code(String(value))}` : ''];
  const below = schema.items === undefined ? path : `${path}[]`;
  return [
    row(code(path), typeName(schema), notes.filter((note) => note !== '').join(', '), schema.description ?? ''),
    ...Object.entries(inner).flatMap(([name, field]) => fieldRows(`${below}.${name}`, field, needed.includes(name))),
  ];
};

const rulesOf = (schema: StructuralSchema): string[] => [
  ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => message),
  ...Object.values(schema.properties ?? {}).flatMap(rulesOf),
];

const section = (title: string, lines: readonly string[]): string[] =>
  lines.length === 0 ? [] : ['', `### ${title}`, '', ...lines];

const kindLines = (kind: AnyKind): string[] => {
  const { group, version, kind: name, shortNames, namespaced } = kind.names;
  const schema = schemaOf(kind);
  const fields = Object.entries(schema.properties ?? {}).flatMap(([part, field]) =>
    fieldRows(part, field, schema.required?.includes(part) ?? false),
  );
  return [
    '',
    `## ${name}`,
    '',
    `${code(`${group}/${version}`)}, ${namespaced ? 'namespaced' : 'cluster-scoped'}, short name ${codes(shortNames)}`,
    '',
    kind.description,
    ...section('Fields', table(['field', 'type', '', 'meaning'], fields)),
    ...section(
      'Validation rules',
      rulesOf(schema).map((message) => `- ${message}`),
    ),
  ];
};

export const resourcesPage = (): string =>
  [
    generated,
    '',
    '# Custom resources',
    '',
    'The custom resources, field by field. `kubectl explain KIND` prints the same. The definitions are in `charts/tartan/crds/`. Conditions,',
    'phases and states are in [conditions.md](conditions.md), events in [events.md](events.md).',
    ...kinds.flatMap((kind) => kindLines(kind)),
    '',
  ].join('\n');
