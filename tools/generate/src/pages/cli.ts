import { PassThrough, Writable } from 'node:stream';
import { commands, jsonSchemas } from '@tartan/cli';
import { z } from 'zod';
import { code, generated, row, table } from './markdown.ts';

/** The reference of the command line, from its help and the schemas of its JSON. */

type Command = ReturnType<typeof commands>;

export interface Field {
  readonly path: string;
  readonly type: string;
  readonly description: string;
}

/** The keywords of JSON Schema that our schemas use. */
const jsonSchemaNode = z.looseObject({
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
  const schema = jsonSchemaNode.parse(value);
  const [inner, isNullable] = unwrapNullable(schema);
  const own =
    path === ''
      ? []
      : [{ path, type: typeOf(inner, isNullable), description: schema.description ?? inner.description ?? '' }];
  const properties = inner.properties ?? {};
  const prefix = path === '' ? '' : `${path}.`;
  const below = Object.entries(properties).flatMap(([name, each]) => fieldsBelow(`${prefix}${name}`, each));
  const items = inner.items === undefined ? [] : fieldsBelow(`${path}[]`, inner.items);
  // The fields of its items already show that a list holds objects.
  return [...own, ...below, ...items.filter(({ path: at, type }) => !(at === `${path}[]` && type === 'object'))];
};

type JsonSchemaNode = z.infer<typeof jsonSchemaNode>;

/** Handles both forms of null: in a list of types, or as one of several schemas. */
const unwrapNullable = (schema: JsonSchemaNode): [JsonSchemaNode, isNullable: boolean] => {
  const { type, anyOf = [] } = schema;
  if (Array.isArray(type)) return [{ ...schema, type: type.find((each) => each !== 'null') }, type.includes('null')];
  const options = anyOf.map((each) => jsonSchemaNode.parse(each));
  const inner = options.find((each) => each.type !== 'null');
  return inner === undefined ? [schema, false] : [inner, options.some((each) => each.type === 'null')];
};

const typeOf = ({ const: only, enum: words, type }: JsonSchemaNode, isNullable: boolean): string => {
  const word =
    only ?? words?.filter((each) => each !== null).join(', ') ?? (type === 'array' ? 'list' : String(type ?? 'object'));
  return isNullable ? `${word}, or null` : word;
};

const introduction = `${generated}

# The command line: tartan

\`tartan\` works with any cluster in \`KUBECONFIG\`. In a checkout: \`npm run tartan -- COMMAND\`. \`npm run build\` writes a folder that runs with
Node.js 24 or newer. As \`kubectl-tartan\` on the \`PATH\` it is also \`kubectl tartan COMMAND\`: \`npm ci\` puts both names into
\`node_modules/.bin\`, the build into \`dist/tartan\`.

- **Cluster**: found as kubectl finds it, or \`--kubeconfig FILE\` and \`--context NAME\`.
- **Namespace**: all namespaces; \`-n NAME\` selects one. \`-A\` is accepted and is the default.
- **Permissions**: the help of each command lists them. An error names a missing permission, with the \`kubectl auth can-i\` that shows it. A view
  leaves out optional parts that it may not read, with a note.
- **Colours**: on a terminal only; \`NO_COLOR\` and \`--no-color\` turn them off, \`FORCE_COLOR=1\` turns them on.
- **Width**: on a terminal, tables are cut to fit, the widest column first. Elsewhere nothing is cut.
- **JSON**: \`-o json\`. Each document names its schema and version. A version never loses a field or changes its meaning; new fields may be added.
  An unknown value is \`null\`, never absent. With \`--watch\` there is one document per line.

| exit code | meaning |
|---|---|
| 0 | success; nothing is wrong |
| 1 | something is wrong, or left to do: the help of each command says what |
| 2 | could not check: wrong arguments, no cluster, no answer, a missing permission |
| 130 | stopped by Ctrl-C |
`;

const leafCommands = (command: Command, path: readonly string[] = []): [path: string, command: Command][] =>
  command.commands.flatMap((each): [string, Command][] => {
    const name = [...path, each.name()];
    return each.commands.length > 0 ? leafCommands(each, name) : each.name() === 'help' ? [] : [[name.join(' '), each]];
  });

const fieldTable = (name: string): string[] => {
  const schema = jsonSchemas[name];
  if (schema === undefined) return [];
  const rows = fieldsOf(schema).map(({ path, type, description }) => row(code(path), type, description));
  return ['', 'With `-o json`:', '', ...table(['field', 'type', ''], rows)];
};

export const cliPage = (): string => {
  const output: string[] = [];
  const stdout = new Writable({
    write: (chunk, _encoding, done) => {
      output.push(String(chunk));
      done();
    },
  });
  const silent = new PassThrough();
  const io = { stdin: silent, stdout, stderr: silent, env: {}, signal: new AbortController().signal };
  const program = commands(io, 'tartan', () => {});
  const helpOf = (command: Command): string => {
    output.length = 0;
    command.outputHelp();
    return output.join('').trimEnd();
  };
  const pages = leafCommands(program).flatMap(([name, command]) => [
    '',
    `## tartan ${name}`,
    '',
    '```',
    helpOf(command),
    '```',
    ...fieldTable(name),
  ]);
  return [introduction, '```', helpOf(program), '```', ...pages, ''].join('\n');
};
