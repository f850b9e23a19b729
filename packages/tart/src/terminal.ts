export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/** Tells by descriptor 3 which terminal it got, gives it its size, and lets every key through: the guest has a terminal of its own. */
const inside = 'tty >&3; exec 3>&-; stty rows "$1" columns "$2" raw -echo; shift 2; exec "$@"';

/**
 * A command line that runs `words` in a pseudo-terminal. `tart exec -t` asks its own terminal for its size and cannot do without one;
 * Node has none to give. script(1) of the system has, with other arguments on each.
 */
export const inTerminal = (
  platform: NodeJS.Platform,
  words: readonly string[],
  { rows, columns }: TerminalSize,
): readonly [file: string, ...args: string[]] => {
  const command = ['/bin/sh', '-c', inside, 'sh', String(rows), String(columns), ...words];
  return platform === 'darwin'
    ? ['/usr/bin/script', '-q', '/dev/null', ...command]
    : ['/usr/bin/script', '-q', '-e', '-c', command.map(quoted).join(' '), '/dev/null'];
};

/** A command line that changes the size of a terminal; the kernel tells whoever works in it. */
export const resizing = (
  terminal: string,
  { rows, columns }: TerminalSize,
): readonly [file: string, ...args: string[]] => [
  '/bin/sh',
  '-c',
  'stty rows "$1" columns "$2" <"$3"',
  'sh',
  String(rows),
  String(columns),
  terminal,
];
