import { parseArgs } from 'node:util';
import type { Surroundings } from '@tartan/kube';
import { type Hook, runHook, usualOptions } from '../hooks/run-hook.ts';
import { decide } from './decide.ts';
import { explain } from './explain.ts';
import { find } from './find.ts';

const help = `Says whether a release of Tartan can be uninstalled: not as long as there are machines, or Macs on their way back to the pool.

  --namespace=NAME    of the release. Without it: that of this Pod, or of the kubeconfig
  --release=NAME      what commands for people shall call it
  --kubeconfig=FILE   which cluster. Without it: KUBECONFIG, then the cluster whose Pod this is, then ~/.kube/config
  --version           print the version
  --help              print this

Exit codes: 0 nothing would be left behind; 1 something would, or nobody could tell, and why; 2 it was told what it does not understand.
`;

const read = (argv: readonly string[]) =>
  parseArgs({
    args: [...argv],
    options: { ...usualOptions, namespace: { type: 'string' }, release: { type: 'string', default: 'RELEASE' } },
  }).values;

const hook: Hook<ReturnType<typeof read>> = {
  help,
  read,
  // Whoever uninstalls waits for it. Long enough for a Pod whose network comes up late, and for a server that is busy.
  timeMs: 60_000,
  work: async ({ namespace: told, release: name }, place) => {
    const namespace = told ?? place.namespace;
    const decision = decide(await find(place.client, namespace, place));
    return decision.kind === 'refuse' ? explain(decision, { namespace, name }) : undefined;
  },
  failed: (why) =>
    `Nobody could tell whether Macs would be left behind: ${why}\nTry again, or skip this with helm uninstall --no-hooks.`,
};

/** The guard of `helm uninstall` as a program. Answers the code to exit with. */
export const runCheck = (argv: readonly string[], surroundings: Surroundings): Promise<number> =>
  runHook(hook, argv, surroundings);
