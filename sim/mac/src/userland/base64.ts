import { quote } from './stub.ts';

/**
 * base64(1): -D everywhere, -d on current releases; input by -i, output by -o or as it comes; lines are not wrapped unless -b says so,
 * and the -w of GNU is no option.
 */
export const base64Tool = (real: string, gnu: boolean): string => `#!/bin/sh
decode=no input= output= width=0
usage() {
  printf 'base64: %s\\nUsage:\\tbase64 [-Ddh] [-b num] [-i in_file] [-o out_file]\\n' "$1" >&2
  exit 64
}
while [ $# -gt 0 ]; do
  case $1 in
    -D | -d | --decode) decode=yes ;;
    -i | --input) input=\${2-} && shift ;;
    -o | --output) output=\${2-} && shift ;;
    -b | --break) width=\${2-} && shift ;;
    -*) [ "$1" = - ] || usage "invalid option -- \${1#-}" ;;
    *) input=$1 ;;
  esac
  shift
done
[ "$input" = - ] || [ -z "$input" ] || exec <"$input"
[ "$output" = - ] || [ -z "$output" ] || exec >"$output"
${
  gnu
    ? `[ "$decode" = no ] || exec ${quote(`${real}/base64`)} -d
${quote(`${real}/base64`)} -w "$width" && { [ "$width" != 0 ] || echo; }`
    : `[ "$decode" = no ] || exec ${quote(`${real}/base64`)} -D
exec ${quote(`${real}/base64`)} -b "$width"`
}
`;
