import { parseArgs } from 'node:util';
import type { Surroundings } from '@tartan/kube';
import { type Hook, runHook, usualOptions } from '../hooks/run-hook.ts';
import { installDefinitions } from './install.ts';

const help = `Brings Tartan's custom resource definitions up to date in a cluster, and waits until they are served.

Definitions that are missing are created, others replaced; labels and annotations of others stay. Nothing is ever deleted. One
that is newer, because it has fields that this version does not know, is left as it is: going back would lose what is kept there.

  --kubeconfig=FILE   which cluster. Without it: KUBECONFIG, then the cluster whose Pod this is, then ~/.kube/config
  --drop-fields       also replace definitions that have fields which this version does not know
  --version           print the version
  --help              print this

Exit codes: 0 all are served; 1 not all are, and why; 2 it was told what it does not understand.
`;

const read = (argv: readonly string[]) =>
  parseArgs({
    args: [...argv],
    options: { ...usualOptions, 'drop-fields': { type: 'boolean', default: false } },
  }).values;

const hook: Hook<ReturnType<typeof read>> = {
  help,
  read,
  // Long enough for an API server to be replaced meanwhile, and less than the five minutes that Helm gives a hook.
  timeMs: 4 * 60_000,
  work: async ({ 'drop-fields': dropFields }, { client, clock, signal }, { say }) => {
    await installDefinitions({ client, clock, signal, dropFields, say: (line) => say(`${line}\n`) });
    return undefined;
  },
  failed: (why, { signal }) => (signal.aborted ? 'Stopped. What is installed stays, and the next run goes on.' : why),
};

/** The installer as a program. Answers the code to exit with. */
export const runInstall = (argv: readonly string[], surroundings: Surroundings): Promise<number> =>
  runHook(hook, argv, surroundings);
