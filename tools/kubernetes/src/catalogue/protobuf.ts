import { globSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { go } from '../build/go.ts';
import { type Catalogue, cataloguePath } from './catalogue.ts';

/** Facts about a field that only the Go type has, not the `.proto` file. */
interface GoField {
  /** Name in JSON. */
  name: string;
  /** Tells absent from zero. */
  pointer: boolean;
  omitempty: boolean;
  /** The fields of its message are written into the parent. */
  inline: boolean;
}

/** Struct name → field number → field. */
type GoStructs = Map<string, Map<number, GoField>>;

const goFieldPattern = /^\t(?:\w+\s+)?(\*?)[\w.[\]*]+\s+`json:"([^"]*)"[^`]*protobuf:"\w+,(\d+),/;

/** Reads the structs of a Go file in the form of Kubernetes API types: one field a line, each with its `json` and `protobuf` tag. */
export const readGoStructs = (text: string): GoStructs => {
  const structs: GoStructs = new Map();
  let current: Map<number, GoField> | undefined;
  for (const line of text.split('\n')) {
    const opened = /^type (\w+) struct \{/.exec(line)?.[1];
    if (opened !== undefined) {
      current = new Map();
      structs.set(opened, current);
      continue;
    }
    if (line.startsWith('}')) current = undefined;
    const match = goFieldPattern.exec(line);
    if (!current || !match) continue;
    const [, pointer, tag = '', number] = match;
    const [name = '', ...options] = tag.split(',');
    current.set(Number(number), {
      name,
      pointer: pointer === '*',
      omitempty: options.includes('omitempty') || options.includes('omitzero'),
      inline: options.includes('inline'),
    });
  }
  return structs;
};

/** A field in a `.proto` file. */
interface ProtoField {
  number: number;
  /** A scalar (`string`, `int64`, …) or the full name of a message. For a map: the type of its values; keys are strings. */
  type: string;
  repeated: boolean;
  map: boolean;
}

/** Messages by full name. */
type ProtoMessages = Map<string, ProtoField[]>;

const scalars = new Set(['string', 'bytes', 'bool', 'int32', 'int64', 'double']);

const protoFieldPattern = /^\s*(?:(optional|repeated)\s+([\w.]+)|map<string,\s*([\w.]+)>)\s+\w+\s*=\s*(\d+)/;

/** Reads Kubernetes' generated `.proto` files: flat messages, no enums, no services, no nesting. */
export const readProto = (text: string): ProtoMessages => {
  const messages: ProtoMessages = new Map();
  const packageName = /^package\s+([\w.]+);/m.exec(text)?.[1];
  if (packageName === undefined) throw new Error('this .proto file names no package');
  const fullName = (type: string): string => {
    if (scalars.has(type)) return type;
    return type.startsWith('.') ? type.slice(1) : `${packageName}.${type}`;
  };
  let current: ProtoField[] | undefined;
  for (const line of text.split('\n')) {
    const opened = /^message (\w+) \{/.exec(line)?.[1];
    if (opened !== undefined) {
      current = [];
      messages.set(`${packageName}.${opened}`, current);
      continue;
    }
    if (line.startsWith('}')) current = undefined;
    const match = protoFieldPattern.exec(line);
    if (!current || !match) continue;
    const [, label, plain, mapped, number] = match;
    const type = plain ?? mapped;
    if (type === undefined || number === undefined) continue;
    current.push({
      number: Number(number),
      type: fullName(type),
      repeated: label === 'repeated',
      map: mapped !== undefined,
    });
  }
  return messages;
};

/** `[name in JSON, type, flags]`; flags: r repeated, m map from strings, p pointer, o omitempty, i inlined into the parent. */
type FieldDescription = [name: string, type: string, flags: string];

/** Message → field number → field. */
type Descriptions = Record<string, Record<string, FieldDescription>>;

/** Messages whose JSON does not follow from their fields: the decoder handles them by name. */
const specialMessages = new Set([
  'k8s.io.apiextensions_apiserver.pkg.apis.apiextensions.v1.JSON',
  'k8s.io.apimachinery.pkg.api.resource.Quantity',
  'k8s.io.apimachinery.pkg.apis.meta.v1.Duration',
  'k8s.io.apimachinery.pkg.apis.meta.v1.FieldsV1',
  'k8s.io.apimachinery.pkg.apis.meta.v1.MicroTime',
  'k8s.io.apimachinery.pkg.apis.meta.v1.Time',
  'k8s.io.apimachinery.pkg.runtime.RawExtension',
  'k8s.io.apimachinery.pkg.util.intstr.IntOrString',
]);

/** Messages for a Go slice or union. They have no tags and keep the names of the `.proto` file. */
const untaggedFields: Readonly<Record<string, readonly string[]>> = {
  ExtraValue: ['items'],
  JSONSchemaPropsOrArray: ['schema', 'jSONSchemas'],
  JSONSchemaPropsOrBool: ['allows', 'schema'],
  JSONSchemaPropsOrStringArray: ['schema', 'property'],
};

const shortName = (message: string): string => message.slice(message.lastIndexOf('.') + 1);
const packageOf = (message: string): string => message.slice(0, message.lastIndexOf('.'));

const describeField = (
  message: string,
  field: { number: number; type: string; repeated: boolean; map: boolean },
  structs: GoStructs | undefined,
): FieldDescription => {
  const container = field.repeated ? 'r' : field.map ? 'm' : '';
  const fixed = untaggedFields[shortName(message)]?.[field.number - 1];
  if (fixed !== undefined) return [fixed, field.type, `${container}p`];
  const known = structs?.get(shortName(message))?.get(field.number);
  if (!known) throw new Error(`no Go struct has a field with number ${field.number} of ${message}`);
  const flags = [known.pointer ? 'p' : '', known.omitempty ? 'o' : '', known.inline ? 'i' : ''].join('');
  return [known.name, field.type, container + flags];
};

/** Describes `roots` and every message they reach. `structs` are those of the Go package of the same name. */
export const describeMessages = (
  roots: readonly string[],
  messages: ProtoMessages,
  structs: ReadonlyMap<string, GoStructs>,
): Descriptions => {
  const descriptions: Descriptions = {};
  const pending = [...roots];
  for (let message = pending.pop(); message !== undefined; message = pending.pop()) {
    if (message in descriptions || specialMessages.has(message)) continue;
    const fields = messages.get(message);
    if (!fields) throw new Error(`no .proto file declares ${message}`);
    const described: Record<string, FieldDescription> = {};
    for (const field of fields) {
      described[field.number] = describeField(message, field, structs.get(packageOf(message)));
      if (field.type.includes('.')) pending.push(field.type);
    }
    descriptions[message] = described;
  }
  return Object.fromEntries(Object.entries(descriptions).sort(([a], [b]) => (a < b ? -1 : 1)));
};

const modulesFolder = join(import.meta.dirname, '../../modules/kubernetes');

export const protobufPath = join(dirname(cataloguePath), 'protobuf.generated.json');

const modules = ['k8s.io/api', 'k8s.io/apimachinery', 'k8s.io/apiextensions-apiserver'];

/** `io.k8s.api.core.v1.Pod` in OpenAPI is `k8s.io.api.core.v1.Pod` in protobuf. */
const messageOf = (schema: string): string => schema.replace(/^io\.k8s\./, 'k8s.io.').replaceAll('-', '_');

const readFolders = (folders: readonly string[]): { messages: ProtoMessages; structs: Map<string, GoStructs> } => {
  const messages: ProtoMessages = new Map();
  const structs = new Map<string, GoStructs>();
  for (const path of folders.flatMap((folder) =>
    globSync('**/generated.proto', { cwd: folder }).map((file) => join(folder, file)),
  )) {
    const declared = readProto(readFileSync(path, 'utf8'));
    for (const [name, fields] of declared) messages.set(name, fields);
    const [first] = declared.keys();
    if (first === undefined) continue;
    const found: GoStructs = new Map();
    for (const source of globSync('*.go', { cwd: dirname(path) })) {
      if (source.endsWith('.pb.go') || source.endsWith('_test.go')) continue;
      for (const [name, fields] of readGoStructs(readFileSync(join(dirname(path), source), 'utf8')))
        found.set(name, fields);
    }
    structs.set(first.slice(0, first.lastIndexOf('.')), found);
  }
  return { messages, structs };
};

/** Describes the protobuf form of every kind in the catalogue, from the Go modules of the components. */
const readProtobuf = async (schemas: readonly string[]): Promise<Descriptions> => {
  const listed = await go(['list', '-m', '-f', '{{.Dir}}', ...modules], {
    cwd: modulesFolder,
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  });
  const { messages, structs } = readFolders(listed.trim().split('\n'));
  return describeMessages(schemas.map(messageOf), messages, structs);
};

/** The text of that file. */
export const dumpProtobuf = async (): Promise<string> => {
  const { kinds }: Catalogue = JSON.parse(readFileSync(cataloguePath, 'utf8'));
  const messages = await readProtobuf(Object.values(kinds));
  const lines = Object.entries(messages).map(([name, fields]) => `${JSON.stringify(name)}: ${JSON.stringify(fields)}`);
  return `{\n${lines.join(',\n')}\n}\n`;
};
