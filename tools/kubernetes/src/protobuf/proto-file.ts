/** One field as a `.proto` file declares it. */
interface ProtoField {
  number: number;
  /** A scalar (`string`, `int64`, …) or the full name of a message. Of a map: of its values, keys being strings. */
  type: string;
  repeated: boolean;
  map: boolean;
}

/** Messages by full name. */
export type ProtoMessages = Map<string, ProtoField[]>;

const scalars = new Set(['string', 'bytes', 'bool', 'int32', 'int64', 'double']);

const declaration = /^\s*(?:(optional|repeated)\s+([\w.]+)|map<string,\s*([\w.]+)>)\s+\w+\s*=\s*(\d+)/;

/** Reads what Kubernetes' generated `.proto` files consist of: flat messages, no enums, no services, no nesting. */
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
    const match = declaration.exec(line);
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
