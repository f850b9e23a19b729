import type { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../command-options.ts';
import type { Shell } from '../shell.ts';

type UnstickFlags = ClusterOptions & { readonly apply?: boolean; readonly selector?: string };

export const addPodsCommand = (program: Command, { stdout, stderr, env, signal, run }: Shell): void => {
  const pods = program
    .command('pods')
    .description('Release Pods that are stuck in Terminating because their Mac is gone: see pods unstick.')
    .helpCommand(false);
  withClusterOptions(pods.command('unstick'))
    .description(
      'Release Pods that are stuck in Terminating because their Mac is gone. A dry run unless --apply is given.',
    )
    .option('--apply', 'remove the finalizers; without this flag the command changes nothing')
    .option('-l, --selector <labels>', 'only Pods with these labels, such as app=runner')
    .addHelpText(
      'after',
      `
The agent on a Mac keeps the finalizer tart-kubelet.tuist.dev/vm-cleanup on every Pod until it has removed the virtual machine.
If the Mac is gone, the provider removes the finalizer 5 minutes after the Node disappeared. Use this command in clusters where the
provider does not run, and for Pods that got stuck before it ran.

The command releases a Pod that is Terminating, whose grace period ended more than 5 minutes ago, and whose Node does not exist. It
leaves a Pod whose Node exists to the agent there, Ready or not: the virtual machine may still run. It reads the Node again right
before each write, and removes only that finalizer, with optimistic locking. The command can be repeated and interrupted safely.

Requires permission to list pods and get nodes; with --apply also to get and patch pods.

Examples:
  $ tartan pods unstick                                       show which Pods are stuck, and what the command would do
  $ tartan pods unstick --namespace tuist-runners --apply     release them
  $ tartan pods unstick -o json | jq -r '.pods[] | select(.outcome == "left") | .why'

Exit codes: 0 no Pod is stuck; 1 without --apply: some Pods can be released; with --apply: some could not be released, and the
table says why; 2 the cluster cannot be read; 130 interrupted.`,
    )
    .action(({ apply = false, ...options }: UnstickFlags) =>
      run('pods unstick', async () => {
        const [{ withCluster }, { unstick }] = await Promise.all([
          import('../cluster/connection.ts'),
          import('./unstick.ts'),
        ]);
        const code = await withCluster(options, env, (cluster) =>
          unstick({ ...options, apply }, cluster, { stdout, stderr }, signal),
        );
        return signal.aborted ? 130 : code;
      }),
    );
};
