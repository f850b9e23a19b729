import type { Command } from 'commander';
import { choiceOf, type ClusterOptions, selectionOf, withClusterOptions } from '../command-options.ts';
import type { Shell } from '../shell.ts';

type Given = ClusterOptions & { readonly apply?: boolean; readonly selector?: string };

export const addPodsCommand = (program: Command, { stdout, stderr, env, signal, run }: Shell): void => {
  const pods = program
    .command('pods')
    .description('Pods that hang in Terminating because their Mac is gone: see pods unstick.')
    .helpCommand(false);
  withClusterOptions(pods.command('unstick'))
    .description(
      'Let go of Pods that hang in Terminating because their Mac is gone. Shows what it would do; --apply does it.',
    )
    .option('--apply', 'do it; without this nothing is changed')
    .option('-l, --selector <labels>', 'look at Pods with these labels only, such as app=runner')
    .addHelpText(
      'after',
      `
The agent on a Mac holds every Pod with the finalizer tart-kubelet.tuist.dev/vm-cleanup until its virtual machine is removed.
When the Mac is gone, nobody removes it. The provider does then, 5 minutes after it missed the Node; this command is for
clusters where it does not run, and for Pods that have been stuck since before it ran.

A Pod is let go when it is Terminating, was to have ended more than 5 minutes ago, and its Node does not exist. One whose Node
exists is left to the agent there, Ready or not: the virtual machine may still run. The Node is asked for again right before
each write; only that one finalizer is removed, and only from the very Pod that was looked at. Safe to repeat and to stop.

Needs the right to list pods and get nodes; with --apply also to get and patch pods.

Examples:
  $ tartan pods unstick                                       what is stuck, and what would be done
  $ tartan pods unstick --namespace tuist-runners --apply     let them go
  $ tartan pods unstick -o json | jq -r '.pods[] | select(.fate == "left") | .why'

Exit codes: 0 nothing is left to do; 1 without --apply: there are Pods to let go; with it: some could not be, and the table says
why; 2 the cluster could not be looked at; 130 stopped.`,
    )
    .action(({ apply = false, selector, ...options }: Given) =>
      run('pods unstick', async () => {
        const [{ withCluster }, { unstick }] = await Promise.all([
          import('../cluster/connection.ts'),
          import('./unstick.ts'),
        ]);
        const { output } = options;
        const chosen = { apply, output, ...selectionOf(options), ...(selector !== undefined && { selector }) };
        const code = await withCluster(choiceOf(options), env, (cluster) =>
          unstick(chosen, cluster, { stdout, stderr }, signal),
        );
        return signal.aborted ? 130 : code;
      }),
    );
};
