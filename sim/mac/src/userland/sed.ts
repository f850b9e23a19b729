import { quote } from './stub.ts';

/**
 * sed(1) of BSD: -i takes its suffix as an argument of its own, so `sed -i s/x/y/ f` reads f as the script. Beyond
 * that, what GNU sed adds to POSIX is switched off: BSD sed has neither `\+` nor the one-line forms of a, i and c.
 */
export const sedTool = (real: string, gnu: boolean): string => `#!/bin/sh
bsd_error() {
  printf 'sed: illegal option -- %s\\nusage: sed script [-EHalnru] [-i extension] [file ...]\\n' "$1" >&2
  exit 1
}
script= suffix= in_place=no options=yes
n=$#
while [ "$n" -gt 0 ]; do
  argument=$1
  shift && n=$((n - 1))
  [ "$options" = yes ] || {
    set -- "$@" "$argument"
    continue
  }
  case $argument in
    --) options=no ;;
    --*) bsd_error - ;;
    -i)
      [ "$n" -gt 0 ] || bsd_error i
      in_place=yes suffix=$1
      shift && n=$((n - 1))
      ;;
    -i*) in_place=yes suffix=\${argument#-i} ;;
    -e | -f)
      [ "$n" -gt 0 ] || bsd_error "\${argument#-}"
      script=yes
      set -- "$@" "$argument" "$1"
      shift && n=$((n - 1))
      ;;
    -e* | -f*) script=yes && set -- "$@" "$argument" ;;
    -*[!EHalnru-]*) bsd_error "\${argument#-}" ;;
    -a | -l | -u) ;;
    -?*) set -- "$@" "$argument" ;;
    *)
      if [ "$script" = yes ]; then
        set -- "$@" "$argument"
      else
        script=yes && set -- "$@" -e "$argument"
      fi
      ;;
  esac
done
${
  gnu
    ? `[ "$in_place" = no ] || set -- "-i$suffix" "$@"
exec ${quote(`${real}/sed`)} --posix "$@"`
    : `[ "$in_place" = no ] || set -- -i "$suffix" "$@"
exec ${quote(`${real}/sed`)} "$@"`
}
`;
