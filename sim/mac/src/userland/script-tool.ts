import { quote } from './stub.ts';

/**
 * script(1) as macOS has it: `script [-q] file command…` runs the command on a terminal of its own, types its standard input into it
 * and prints what the terminal shows, which is what was typed as well. Played by the real one underneath, whose arguments differ on
 * Linux (util-linux: the command is one word behind -c).
 */
export const scriptTool = (real: string, gnu: boolean): string => `#!/bin/sh
while :; do
  case \${1:-} in
    -q) shift ;;
    -*)
      printf 'script: illegal option -- %s\\nusage: script [-adeFkpqr] [-t time] [file [command ...]]\\n' "\${1#-}" >&2
      exit 1
      ;;
    *) break ;;
  esac
done
file=\${1:-typescript}
[ $# = 0 ] || shift
${
  gnu
    ? `words=
for word; do
  words="$words '$(printf '%s' "$word" | ${quote(`${real}/sed`)} "s/'/'\\\\\\\\''/g")'"
done
exec ${quote(`${real}/script`)} -q -e -c "$words" "$file"`
    : `exec ${quote(`${real}/script`)} -q "$file" "$@"`
}
`;
