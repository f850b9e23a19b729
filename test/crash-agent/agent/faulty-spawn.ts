import { spawn } from 'node:child_process';
import type { Spawn } from '@tartan/tart';
import type { Alias } from './effect-names.ts';
import { die, type FaultWatch } from './fault-watch.ts';

/** Read-only commands. */
const checks: ReadonlySet<string> = new Set(['list', 'get', 'ip', '--version']);
/** The arguments that identify a call. */
const wordsOf = ([command = '', ...words]: readonly string[]): readonly string[] =>
  command === 'clone' ? words.slice(0, 2) : words.filter((word) => !word.startsWith('-')).slice(0, 1);

/** Makes effects of tart calls. The called process keeps running when the agent is killed, as on a Mac. */
export const faultySpawn =
  (watch: FaultWatch, alias: Alias): Spawn =>
  (file, args, options) => {
    const [command = ''] = args;
    if (checks.has(command)) return spawn(file, args, options);
    // `tart run` does not end while its virtual machine runs: the call is done once its process exists.
    const mode = watch.record(
      alias(`tart ${[command, ...wordsOf(args)].join(' ')}`),
      command === 'run' ? ['killed during'] : ['killed during', 'killed after'],
    );
    const child = spawn(file, args, options);
    if (mode === 'killed during') die();
    if (mode === 'killed after') child.on('close', die);
    return child;
  };
