/** What pfctl was asked to do, as its `getopt` reads it: flags may be joined (`-sr`, `-vnf FILE`). */
export interface PfctlArguments {
  readonly anchor: string;
  readonly show?: string;
  readonly flush?: string;
  readonly table?: string;
  readonly tableCommand?: string;
  readonly file?: string;
  readonly token?: string;
  readonly flags: ReadonlySet<string>;
  readonly operands: readonly string[];
}

const takesValue = 'aDfFikKopstTwxX';
const plain = 'AdeEghlmnNOPqrRSvz';
/** An abbreviation stands for the first of these that it begins. */
const modifiers = {
  s: [
    'nat',
    'queue',
    'rules',
    'Anchors',
    'Sources',
    'states',
    'info',
    'Interfaces',
    'labels',
    'timeouts',
    'memory',
    'Tables',
    'osfp',
    'References',
    'dummynet',
    'all',
  ],
  F: ['nat', 'queue', 'rules', 'Sources', 'states', 'info', 'Tables', 'osfp', 'dummynet', 'all'],
  T: ['kill', 'flush', 'add', 'delete', 'load', 'replace', 'show', 'test', 'zero', 'expire'],
};

const usage = 'usage: pfctl [-AdeghmNnOqRrvz] [-a anchor] [-D macro=value] [-F modifier]\n';

/** `undefined` in `arguments`: the text says why, and pfctl ends with 1. */
export const parseArguments = (
  words: readonly string[],
): { readonly arguments: PfctlArguments } | { readonly refusal: string } => {
  const values: Record<string, string> = {};
  const flags = new Set<string>();
  const rest = [...words];
  while (rest[0]?.startsWith('-') === true && rest[0] !== '-') {
    const group = (rest.shift() ?? '').slice(1);
    if (group === '-') break;
    for (let at = 0; at < group.length; at += 1) {
      const flag = group.charAt(at);
      if (takesValue.includes(flag)) {
        const value = at + 1 < group.length ? group.slice(at + 1) : rest.shift();
        if (value === undefined) return { refusal: `pfctl: option requires an argument -- ${flag}\n${usage}` };
        values[flag] = value;
        break;
      }
      if (!plain.includes(flag)) return { refusal: `pfctl: illegal option -- ${flag}\n${usage}` };
      flags.add(flag);
    }
  }
  for (const flag of ['s', 'F', 'T'] as const) {
    const value = values[flag];
    if (value === undefined) continue;
    const full = modifiers[flag].find((name) => value !== '' && name.startsWith(value));
    if (full === undefined) return { refusal: `pfctl: Unknown option '${value}' for -${flag}\n${usage}` };
    values[flag] = full;
  }
  const optional = (key: string, flag: string): object => (values[flag] === undefined ? {} : { [key]: values[flag] });
  return {
    arguments: {
      anchor: values['a'] ?? '',
      ...optional('show', 's'),
      ...optional('flush', 'F'),
      ...optional('table', 't'),
      ...optional('tableCommand', 'T'),
      ...optional('file', 'f'),
      ...optional('token', 'X'),
      flags,
      operands: rest,
    },
  };
};
