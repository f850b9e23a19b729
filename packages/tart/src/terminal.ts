export interface TerminalSize {
  readonly rows: number;
  readonly columns: number;
}

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`;

/**
 * Gives its terminal a size, lets every key through as the guest has a terminal of its own, and tells by descriptor 3 which one it got.
 * In this order: whoever knows it may give it another size at once, and that one counts.
 */
const inside = 'stty rows "$1" columns "$2" raw -echo; tty >&3; exec 3>&-; shift 2; exec "$@"';

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
