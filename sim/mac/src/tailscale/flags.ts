/** The parsed flags of a Go program: `-name value`, `--name=value`, or a switch. */
export interface Flags {
  readonly values: ReadonlyMap<string, string>;
  readonly operands: readonly string[];
  /** The first unknown flag. */
  readonly unknown?: string;
}

export const parseFlags = (
  words: readonly string[],
  known: { switches: readonly string[]; values: readonly string[] },
): Flags => {
  const values = new Map<string, string>();
  const rest = [...words];
  while (rest[0]?.startsWith('-') === true && rest[0] !== '-') {
    const word = rest.shift() ?? '';
    if (word === '--') break;
    const [, name = '', value] = /^--?([^=]+)(?:=(.*))?$/s.exec(word) ?? [];
    if (known.switches.includes(name)) values.set(name, value ?? 'true');
    else if (known.values.includes(name)) values.set(name, value ?? rest.shift() ?? '');
    else return { values, operands: rest, unknown: name };
  }
  return { values, operands: rest };
};

/** A Go duration: `30s`, `1m30s`. In milliseconds; 0 means forever. */
export const parseDuration = (text: string): number | undefined => {
  if (text === '0') return 0;
  if (!/^(\d+(\.\d+)?(ms|s|m|h))+$/.test(text)) return undefined;
  const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };
  return [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h)/g)].reduce(
    (sum, [, number, unit]) => sum + Number(number) * (units[unit ?? ''] ?? 0),
    0,
  );
};
