import { quote } from './stub.ts';

/**
 * ps(1) of one Mac: all Macs and whatever else runs here share one machine underneath, and a Mac must not see what is not its own. What
 * belongs to it has its root folder in the environment. Everything else is for the real one, whose columns are the same as far as they
 * are asked for.
 */
export const psTool = (real: string, gnu: boolean): string => `#!/bin/sh
own=
${
  gnu
    ? `for file in $(${quote(`${real}/grep`)} -lzxF -- "TARTAN_ROOT=$TARTAN_ROOT" /proc/[0-9]*/environ 2>/dev/null); do
  pid=\${file#/proc/}
  own="$own \${pid%/environ}"
done`
    : `own=$(${quote(`${real}/ps`)} -axEww -o pid=,command= | ${quote(`${real}/awk`)} -v mark=" TARTAN_ROOT=$TARTAN_ROOT " 'index($0 " ", mark) { print $1 }')`
}
# Choices are taken out of the arguments; a choice of all is one of all that are this Mac's.
chosen=all left=$#
while [ "$left" -gt 0 ]; do
  word=$1
  shift
  left=$((left - 1))
  case $word in
    -A | -e | -ax | -a | -x) continue ;;
    -Ao | -eo | -axo) word=-o ;;
    -p)
      chosen=$1
      shift
      left=$((left - 1))
      continue
      ;;
  esac
  set -- "$@" "$word"
done
pids=
for pid in $own; do
  case ",$chosen," in ,all, | *",$pid,"*) pids=$pids\${pids:+,}$pid ;; esac
done
[ -n "$pids" ] || exit 1
exec ${quote(`${real}/ps`)} -p "$pids" "$@"
`;
