import { realTool } from './real-tools.ts';

/** Quotes any text as one word of a POSIX shell. */
export const quote = (word: string): string => `'${word.replaceAll("'", "'\\''")}'`;

/** How many tools of one Mac may run concurrently. A call without a free slot retries until there is one. */
export const maxConcurrentCalls = 24;

/** The folder for calls, next to the Mac's disk. All Macs share one set of stubs. */
const callsFolder = '"$TARTAN_ROOT/../.mac/calls"';

/**
 * The shell functions with which a process on the Mac calls a tool that is simulated in TypeScript, without starting a further process.
 * Flow: take a slot (a file created with O_EXCL), write the call next to it, open the slot's FIFO, write the slot's number to the FIFO
 * `requests`, wait for one line on the slot's FIFO. The line is an exit code, or `.` for an answer in a file: a piece of shell that prints and
 * exits. A caller without a free slot writes an empty line to `requests`: slots of dead callers are freed only when `requests` is read.
 * Guarantees: a slot is freed only when no process has its FIFO open (see `tool-calls.ts`), so no answer reaches another call.
 * Caveat: a process that dies between taking a slot and writing to `requests` blocks that slot until the next boot.
 */
export const shellCallFunctions = (real: string): string => `
calls=${callsFolder}
call() {
  slot=0
  set -C
  until { true >"$calls/$slot.call"; } 2>/dev/null; do
    slot=$(((slot + 1) % ${maxConcurrentCalls}))
    if [ "$slot" = 0 ]; then
      echo >"$calls/requests"
      ${quote(realTool('sleep') ?? 'true')} 0.01
    fi
  done
  set +C
  if [ "$input" = yes ]; then ${quote(real)}/cat >"$calls/$slot.input"; fi
  printf '%s\\0' "\${TARTAN_SIM_UID:-}" "$PWD" "$input" "$@" >"$calls/$slot.words"
  exec 3<>"$calls/$slot"
  printf '%s\\n' "$slot" >"$calls/requests"
  IFS= read -r answer <&3
  case $answer in
    .) . "$calls/$slot.answer" ;;
    *) exit "$answer" ;;
  esac
}
input=no
`;

/** The stub of every tool that is simulated in TypeScript: it identifies the tool by its own name. */
export const toolStub = (real: string): string => `#!/bin/sh
${shellCallFunctions(real)}
for argument; do
  case $argument in
    - | /dev/stdin | *:/dev/stdin | *=/dev/stdin) input=yes ;;
  esac
done
call "\${0##*/}" "$@"
`;

/** Records its arguments in the journal, then executes the tool of the same name in `untraced`. */
export const tracedTool = (real: string, untraced: string): string => `#!/bin/sh
${shellCallFunctions(real)}
call trace.argv "\${0##*/}" "$@"
exec 3<&-
exec ${quote(untraced)}/"\${0##*/}" "$@"
`;
