import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { go } from './build/go-command.ts';
import { describeMessages, type Descriptions } from './protobuf/describe.ts';
import { readGoStructs, type GoStructs } from './protobuf/go-file.ts';
import { readProto, type ProtoMessages } from './protobuf/proto-file.ts';

const modulesFolder = join(import.meta.dirname, '../modules/kubernetes');
const generatedFolder = join(import.meta.dirname, '../../../sim/kubernetes/src/generated');

export const protobufPath = join(generatedFolder, 'protobuf.generated.json');

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

/** Describes the protobuf form of every kind in the catalogue, from the Go modules that the components are built from. */
export const readProtobuf = async (schemas: readonly string[]): Promise<Descriptions> => {
  const listed = await go(['list', '-m', '-f', '{{.Dir}}', ...modules], {
    cwd: modulesFolder,
    env: { ...process.env, GOFLAGS: '-mod=mod' },
  });
  const { messages, structs } = readFolders(listed.trim().split('\n'));
  return describeMessages(schemas.map(messageOf), messages, structs);
};

export const dumpProtobuf = async (): Promise<void> => {
  const { kinds } = JSON.parse(readFileSync(join(generatedFolder, 'kubernetes.generated.json'), 'utf8')) as {
    kinds: Record<string, string>;
  };
  const messages = await readProtobuf(Object.values(kinds));
  const lines = Object.entries(messages).map(([name, fields]) => `${JSON.stringify(name)}: ${JSON.stringify(fields)}`);
  writeFileSync(protobufPath, `{\n${lines.join(',\n')}\n}\n`);
};

if (import.meta.main) {
  await dumpProtobuf();
  process.stdout.write(`wrote ${protobufPath}\n`);
}
