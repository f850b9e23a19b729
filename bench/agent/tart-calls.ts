import { execFile } from 'node:child_process';
import { appendFile, readFile, writeFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** One call of `tart`. Times are milliseconds since the epoch. */
export interface TartCall {
  readonly command: string;
  readonly words: readonly string[];
  readonly began: number;
  /** `undefined`: a running virtual machine. */
  readonly ended: number | undefined;
}

/** With this argument, the script only prints its start time. */
const stampOnly = '--stamp';

/**
 * Replaces `tart` and records start and end of each call. Executes `tart run` in place, so that the virtual machine is the process that the
 * agent started.
 */
export const installStampingTart = async (path: string, tart: string, file: string): Promise<void> => {
  await appendFile(file, '');
  const script = `#!/bin/bash
began=$EPOCHREALTIME
if [ "$1" = run ]; then
  echo "$began - $*" >>'${file}'
  exec '${tart}' "$@"
fi
if [ "$1" = ${stampOnly} ]; then
  echo "$began"
  exit
fi
'${tart}' "$@"
code=$?
echo "$began $EPOCHREALTIME $*" >>'${file}'
exit $code
`;
  await writeFile(path, script, { mode: 0o755 });
};

/** Spawns the script like the agent, one call after the other, and prints the shortest time from `spawn` to the stamp. */
const prober = `
const { spawn } = require('node:child_process');
const { once } = require('node:events');
const now = () => performance.timeOrigin + performance.now();
(async () => {
  const delays = [];
  for (let n = 0; n < 41; n++) {
    const at = now();
    const child = spawn(process.argv[1], ['${stampOnly}'], { detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (more) => (text += more));
    await once(child, 'close');
    delays.push(Number(text) * 1000 - at);
  }
  console.log(Math.min(...delays));
})();`;

/**
 * How long after `spawn` the script stamps, in milliseconds: bash takes time to start, and a call begins where the agent spawns it. The
 * shortest of many, from a small process: subtracts rather too little than too much.
 */
export const measureStampDelay = async (path: string): Promise<number> =>
  Number((await promisify(execFile)(process.execPath, ['-e', prober, path])).stdout);

/** With start times corrected by the stamp delay. */
export const readTartCalls = async (file: string, stampDelay: number): Promise<TartCall[]> =>
  (await readFile(file, 'utf8'))
    .split('\n')
    .filter(Boolean)
    .map((line) => {
      const [stamp, ended, command = '', ...words] = line.split(' ');
      const began = Number(stamp) * 1000 - stampDelay;
      return { command, words, began, ended: ended === '-' ? undefined : Number(ended) * 1000 };
    });
