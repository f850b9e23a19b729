import { join } from 'node:path';
import { block, type Disk } from '../disk.ts';
import { callFunctions, quote } from './stub.ts';
import type { ShellTool } from './tool-calls.ts';

/** The real tools that write files. Of what the shell writes by itself, nothing is known here: `echo x >file` always has room. */
export const writers: readonly string[] = ['cat', 'cp', 'dd', 'gunzip', 'gzip', 'tar', 'tee'];

/**
 * A writer on a disk that fills up: it gets a limit on the size of files where a Mac has none left, and says what a Mac would say.
 * As on a Mac the target was truncated before. A writer of many files is told only when it is done.
 */
export const limitedWriter = (real: string, name: string): string => `#!/bin/sh
${callFunctions(real)}
call disk.room
exec 3<&-
{
  code=$({
    {
      trap '' XFSZ
      ulimit -f "$room"
      code=0
      ${quote(join(real, name))} "$@" 2>&1 >&4 4>&- 5>&- || code=$?
      echo "$code" >&5
    } | ${quote(join(real, 'sed'))} 's/File too large/No space left on device/' >&2 4>&-
  } 5>&1)
} 4>&1
[ "$code" = 0 ] || exit "$code"
call disk.overfull ${name} "$used"
`;

export const diskTools = (disk: Disk): Readonly<Record<'disk.room' | 'disk.overfull', ShellTool>> => ({
  // POSIX counts ulimit -f in blocks of 512 bytes.
  'disk.room': () => ({ shell: `room=$((${Math.floor(disk.free() / block)} * ${block / 512})) used=${disk.used()}` }),
  'disk.overfull': ({ args: [name, usedBefore] }) =>
    disk.isOverfull() && disk.used() > Number(usedBefore)
      ? { code: 1, stderr: `${name}: write error: No space left on device\n` }
      : { code: 0 },
});
