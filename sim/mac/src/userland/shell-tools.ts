import { scriptTool } from './script.ts';
import { sudoStub } from './sudo/sudo.ts';
import { quote } from './tool-stubs.ts';

/**
 * base64(1): -D everywhere, -d on current releases; input by -i, output by -o or to stdout; lines are only wrapped with -b, and GNU's -w
 * does not exist.
 */
const base64Tool = (real: string, gnu: boolean): string => `#!/bin/sh
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

/** The user of this Mac, from a file next to its disk. */
const readUser = `read -r user_id user_name <"$TARTAN_ROOT/../.mac/user"`;

/** id(1), of the effective user: root for processes of sudo and of system jobs of launchd. */
const idTool = `#!/bin/sh
${readUser}
if [ "\${TARTAN_SIM_UID:-}" = 0 ]; then
  uid=0 name=root gid=0 group=wheel
else
  uid=$user_id name=$user_name gid=20 group=staff
fi
options=
while :; do
  case \${1:-} in
    -*) options=$options\${1#-} && shift ;;
    *) break ;;
  esac
done
case \${1:-} in
  '') ;;
  root | 0) uid=0 name=root gid=0 group=wheel ;;
  "$user_name" | "$user_id") uid=$user_id name=$user_name gid=20 group=staff ;;
  *)
    printf 'id: %s: no such user\\n' "$1" >&2
    exit 1
    ;;
esac
case $options in
  u | ur) echo "$uid" ;;
  un | nu) echo "$name" ;;
  g | gr) echo "$gid" ;;
  gn | ng) echo "$group" ;;
  G) if [ "$uid" = 0 ]; then echo '0 1 2 3 4 5 8 9 12 20 29 61 80'; else echo '20 12 61 80 98'; fi ;;
  Gn | nG) if [ "$uid" = 0 ]; then echo 'wheel daemon kmem sys tty operator procview procmod everyone staff certusers localaccounts admin'; else echo 'staff everyone localaccounts admin _lpadmin'; fi ;;
  '') echo "uid=$uid($name) gid=$gid($group) groups=$gid($group),80(admin)" ;;
  *)
    echo 'usage: id [user]' >&2
    exit 1
    ;;
esac
`;

const whoamiTool = `#!/bin/sh
${readUser}
if [ "\${TARTAN_SIM_UID:-}" = 0 ]; then echo root; else echo "$user_name"; fi
`;

/** mv(1) of BSD: -h replaces a symbolic link to a folder instead of moving into the folder, like GNU's -T; no long options. */
const mvTool = (real: string, gnu: boolean): string => `#!/bin/sh
case \${1:-} in
  -*[!fhinv]* | --*)
    printf 'mv: illegal option -- %s\\nusage: mv [-f | -i | -n] [-hv] source target\\n' "\${1#-}" >&2
    exit 64
    ;;
${
  gnu
    ? `  -h | -fh | -hf)
    shift
    set -- -fT "$@"
    ;;
`
    : ''
}esac
exec ${quote(`${real}/mv`)} "$@"
`;

/**
 * ps(1) of one Mac: all Macs share the real machine, and a Mac must only see its own processes, which have its root folder in their
 * environment. Calls the real ps for everything else; the columns in use are the same.
 */
const psTool = (real: string, gnu: boolean): string => `#!/bin/sh
# Removes selections from the arguments; a selection of all means all processes of this Mac.
chosen= left=$#
while [ "$left" -gt 0 ]; do
  word=$1
  shift
  left=$((left - 1))
  case $word in
    -A | -e | -ax | -a | -x) continue ;;
    -Ao | -eo | -axo) word=-o ;;
    -p)
      chosen=$chosen\${chosen:+,}$1
      shift
      left=$((left - 1))
      continue
      ;;
  esac
  set -- "$@" "$word"
done
${
  gnu
    ? `newline='
'
files=
IFS=,
for pid in $chosen; do files="$files /proc/$pid/environ"; done
unset IFS
: "\${files:=$(echo /proc/[0-9]*/environ)}"
own_processes() { ${quote(`${real}/grep`)} -lzxF -- "TARTAN_ROOT=$TARTAN_ROOT" $files 2>/dev/null; }
# is_executing STAT: whether execve(2) just replaces the process, which has memory then, but neither environment nor arguments yet. See
# proc_pid_stat(5). The name may contain anything; a thread of the kernel has no process group.
is_executing() {
  case $1 in *') '?' '[02]' 0 0 '*) return 1 ;; esac
  set -f -- \${1##*) }
  set +f
  [ "\${21}" != 0 ] && [ "\${49}" = 0 ]
}
# A process that the first and the second look miss during one execve was in it also in between.
bracketed=
while :; do
  found=$(own_processes)
  executing=
  for file in $(${quote(`${real}/grep`)} -L '' $files 2>/dev/null); do
    IFS= read -r stat 2>/dev/null <"\${file%environ}stat" && is_executing "$stat" && executing=yes
  done
  [ -z "$executing" ] || continue
  pids=
  for file in $found $(own_processes); do
    pid=\${file#/proc/} pid=\${pid%/environ}
    case ,$pids, in *",$pid,"*) ;; *) pids=$pids\${pids:+,}$pid ;; esac
  done
  [ -n "$pids" ] || exit 1
  # -q reads these processes only, where -p reads all of the machine's.
  output=$(${quote(`${real}/ps`)} -q "$pids" "$@")
  code=$?
  # Without arguments ps shows the name in brackets: if it was in an execve, the next look differs.
  case "$output$newline" in *"]$newline"*)
    before=$bracketed
    bracketed=$(printf '%s\\n' "$output" | ${quote(`${real}/grep`)} ' \\[[^ ]*\\]$')
    [ "$bracketed" = "$before" ] || continue
    ;;
  esac
  [ -z "$output" ] || printf '%s\\n' "$output"
  exit "$code"
done`
    : `pids=
for pid in $(${quote(`${real}/ps`)} -axEww -o pid=,command= | ${quote(`${real}/awk`)} -v mark=" TARTAN_ROOT=$TARTAN_ROOT " 'index($0 " ", mark) { print $1 }'); do
  case ,$chosen, in ,, | *",$pid,"*) pids=$pids\${pids:+,}$pid ;; esac
done
[ -n "$pids" ] || exit 1
exec ${quote(`${real}/ps`)} -p "$pids" "$@"`
}
`;

/**
 * sed(1) of BSD: -i takes its suffix as a separate argument, so `sed -i s/x/y/ f` reads f as the script. GNU extensions to POSIX are
 * switched off: BSD sed has neither `\+` nor the one-line forms of a, i and c.
 */
const sedTool = (real: string, gnu: boolean): string => `#!/bin/sh
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

/** shasum(1), the Perl version of macOS; uses the GNU tools, whose output only differs in the name in errors. */
const shasumTool = (real: string, gnu: boolean): string =>
  gnu
    ? `#!/bin/sh
algorithm=1
n=$#
while [ "$n" -gt 0 ]; do
  argument=$1
  shift && n=$((n - 1))
  case $argument in
    -a | --algorithm)
      algorithm=\${1-}
      shift && n=$((n - 1))
      ;;
    -a*) algorithm=\${argument#-a} ;;
    -c | --check | -b | -t) set -- "$@" "$argument" ;;
    -s | --status) set -- "$@" --status ;;
    -q | --quiet) set -- "$@" --quiet ;;
    -?*)
      printf 'Unknown option: %s\\nType shasum -h for help\\n' "\${argument#-}" >&2
      exit 1
      ;;
    *) set -- "$@" "$argument" ;;
  esac
done
case $algorithm in
  1 | 224 | 256 | 384 | 512) exec ${quote(real)}/sha"$algorithm"sum "$@" ;;
esac
printf 'shasum: Unrecognized algorithm\\n' >&2
exit 1
`
    : `#!/bin/sh
exec ${quote(`${real}/shasum`)} "$@"
`;

const uname = `#!/bin/sh
case \${1:-} in
  '' | -s) echo Darwin ;;
  -m) echo arm64 ;;
  -p) echo arm ;;
  -r) echo 25.0.0 ;;
  -sm | -ms) echo Darwin arm64 ;;
  *) echo Darwin Mac-mini.local 25.0.0 Darwin Kernel Version 25.0.0 RELEASE_ARM64_T8132 arm64 ;;
esac
`;

/** The real tools that the tools below use. */
export const wrappedTools = [
  'base64',
  'mv',
  'ps',
  'script',
  'sed',
  'shasum',
  ...[1, 224, 256, 384, 512].map((bits) => `sha${bits}sum`),
];

/**
 * Tools in shell, because they are called often and need no state. `real` is a folder of links to the real tools: GNU's, or on a Mac BSD's
 * own.
 */
export const shellTools = (real: string, gnu: boolean): Readonly<Record<string, string>> => ({
  base64: base64Tool(real, gnu),
  id: idTool,
  mv: mvTool(real, gnu),
  ps: psTool(real, gnu),
  script: scriptTool(real, gnu),
  sed: sedTool(real, gnu),
  shasum: shasumTool(real, gnu),
  sudo: sudoStub(real),
  // A real sync can take a second on a busy disk, without a visible effect here.
  sync: '#!/bin/sh\nexit 0\n',
  uname,
  whoami: whoamiTool,
});
