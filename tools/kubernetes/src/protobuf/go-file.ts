/** What the Go type knows about a field and the `.proto` file does not. */
interface GoField {
  /** Name in JSON. */
  name: string;
  /** Absent and zero are two different things. */
  pointer: boolean;
  omitempty: boolean;
  /** The fields of its message are written into the parent. */
  inline: boolean;
}

/** Struct name → field number → field. */
export type GoStructs = Map<string, Map<number, GoField>>;

const field = /^\t(?:\w+\s+)?(\*?)[\w.[\]*]+\s+`json:"([^"]*)"[^`]*protobuf:"\w+,(\d+),/;

/** Reads the structs of a Go file as Kubernetes writes its API types: one field a line, each with its `json` and `protobuf` tag. */
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
    const match = field.exec(line);
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
