import { spawn } from 'node:child_process';
import type { Spawn } from '@tartan/tart';
import type { Alias } from './effect-names.ts';
import { die, type FaultWatch } from './fault-watch.ts';

/** These change nothing. */
const looks: ReadonlySet<string> = new Set(['list', 'get', 'ip', '--version']);
/** Whose words tell apart what is called. */
const wordsOf = ([command = '', ...words]: readonly string[]): readonly string[] =>
  command === 'clone' ? words.slice(0, 2) : words.filter((word) => !word.startsWith('-')).slice(0, 1);

/** Calls of tart as effects. Whoever is called goes on when the agent is killed, as it does on a Mac. */
export const faultySpawn =
  (watch: FaultWatch, alias: Alias): Spawn =>
  (file, args, options) => {
    const [command = ''] = args;
    if (looks.has(command)) return spawn(file, args, options);
    // A virtual machine that is on is no answer: with its process the call has done its work.
    const mode = watch.meet(
      alias(`tart ${[command, ...wordsOf(args)].join(' ')}`),
      command === 'run' ? ['killed during'] : ['killed during', 'killed after'],
    );
    const child = spawn(file, args, options);
    if (mode === 'killed during') die();
    if (mode === 'killed after') child.on('close', die);
    return child;
  };
