import { realTool } from './real-tools.ts';

/** A word for a POSIX shell, whatever is in it. */
export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** How many tools of one Mac may be running at once. A call that finds no slot free tries again until one is. */
export const maxConcurrentCalls = 24;

/** Where a Mac hears calls, as its processes find it: beside its disk. All Macs share one set of stubs. */
const callsFolder = '"$TARTAN_ROOT/../.mac/calls"';

/**
 * The shell functions with which a process on the Mac calls a tool that is played in TypeScript, at the price of no further process.
 *
 * Flow: take a slot (a file created with O_EXCL), write the call beside it, open the slot's FIFO, ring the Mac's bell with the slot's
 * number, wait for one line on the FIFO. The line is an exit code, or `.` for an answer in a file: a piece of shell that prints and exits.
 * Who finds all slots taken rings with no number: those whose callers have gone are given back when the bell rings, and at no other time.
 * Guarantees: a slot is given back only when nobody has its FIFO open (see `tool-calls.ts`), so no answer reaches another call.
 * Caveat: a process that dies between taking a slot and ringing costs that slot until the next boot.
 */
export const shellCallFunctions = (real: string): string => `
calls=${callsFolder}
call() {
  slot=0
  set -C
  until { true >"$calls/$slot.call"; } 2>/dev/null; do
    slot=$(((slot + 1) % ${maxConcurrentCalls}))
    if [ "$slot" = 0 ]; then
      echo >"$calls/bell"
      ${quote(realTool('sleep') ?? 'true')} 0.01
    fi
  done
  set +C
  if [ "$input" = yes ]; then ${quote(real)}/cat >"$calls/$slot.input"; fi
  printf '%s\\0' "\${TARTAN_SIM_UID:-}" "$PWD" "$input" "$@" >"$calls/$slot.words"
  exec 3<>"$calls/$slot"
  printf '%s\\n' "$slot" >"$calls/bell"
  IFS= read -r answer <&3
  case $answer in
    .) . "$calls/$slot.answer" ;;
    *) exit "$answer" ;;
  esac
}
input=no
`;

/** Stands for every tool that is played in TypeScript: it knows by which name it was called. */
export const toolStub = (real: string): string => `#!/bin/sh
${shellCallFunctions(real)}
for argument; do
  case $argument in
    - | /dev/stdin | *:/dev/stdin | *=/dev/stdin) input=yes ;;
  esac
done
call "\${0##*/}" "$@"
`;

/** Tells the journal by which arguments it was called, then is the tool of the same name in `untraced`. */
export const tracedTool = (real: string, untraced: string): string => `#!/bin/sh
${shellCallFunctions(real)}
call trace.argv "\${0##*/}" "$@"
exec 3<&-
exec ${quote(untraced)}/"\${0##*/}" "$@"
`;
