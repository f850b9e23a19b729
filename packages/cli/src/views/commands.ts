import type { Command } from 'commander';
import { type ClusterOptions, type ManagerFlagOptions, withClusterOptions } from '../command-options.ts';
import { runView } from '../output/run-view.ts';
import { textStyleFor } from '../output/terminal-text.ts';
import type { Shell } from '../shell.ts';

export const addFleetCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('fleet'), { watch: true })
    .description('Show machines, Macs, Nodes and virtual machines in one table.')
    .addHelpText(
      'after',
      `
Lists each machine with its Mac, its Node and its virtual machines; then Macs without a machine; then Nodes of Macs without a machine.
WHY is the first condition that keeps a machine from being Ready or up to date.

Requires permission to list scalewayapplesiliconmachines and machosts. Without permission to list macfleets, nodes or pods, those
columns are empty.

Examples:
  $ tartan fleet
  $ tartan fleet --watch                                      redraws on a terminal; otherwise prints a line per change
  $ tartan fleet -o json | jq -r '.macs[] | select(.ready | not) | .machine'

Exit codes: 0 shown; 2 the cluster cannot be read; 130 interrupted.`,
    )
    .action((options: ClusterOptions) =>
      runView(shell, 'fleet', options, async () => (await import('./fleet.ts')).fleetView),
    );
};

export const addPoolCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('pool'), { watch: true })
    .description('Count Macs by state, type, macOS and zone; list quarantined Macs and when they are free again.')
    .addHelpText(
      'after',
      `
Examples:
  $ tartan pool
  $ tartan pool -o json | jq '.free'                          number of Macs that can be claimed now

Exit codes: 0 shown; 2 the cluster cannot be read; 130 interrupted.`,
    )
    .action((options: ClusterOptions) =>
      runView(shell, 'pool', options, async () => (await import('./pool.ts')).poolView),
    );
};

export const addOrphansCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('orphans'), { watch: true, namespaces: false })
    .description('List stranded Macs: rented, held by no machine, and in no pool. Show what the sweep does with each.')
    .option('--orphan-reclaim-claim-name-prefix <prefix>', 'assume that the manager has this flag')
    .option('--default-adopt-pool-prefix <prefix>', 'assume that the manager has this flag')
    .addHelpText(
      'after',
      `
Stranded Macs cost money without running anything. By default the command shows the decisions of the manager. With one of the two
prefix flags it computes what a manager with these flags would decide. The command changes nothing.

Examples:
  $ tartan orphans
  $ tartan orphans --orphan-reclaim-claim-name-prefix prod- --default-adopt-pool-prefix tuist-pool-

Exit codes: 0 no Mac is stranded; 1 some are; 2 the cluster cannot be read; 130 interrupted.`,
    )
    .action(({ orphanReclaimClaimNamePrefix, defaultAdoptPoolPrefix, ...options }: ManagerFlagOptions) =>
      runView(shell, 'orphans', options, async () => {
        const { orphansView } = await import('./orphans.ts');
        const given = orphanReclaimClaimNamePrefix !== undefined || defaultAdoptPoolPrefix !== undefined;
        return orphansView(
          given
            ? { claimNamePrefix: orphanReclaimClaimNamePrefix, defaultPoolPrefix: defaultAdoptPoolPrefix }
            : undefined,
        );
      }),
    );
};

interface VersionOptions extends ClusterOptions {
  readonly client?: boolean;
}

export const addVersionCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('version'), { namespaces: false })
    .description('Show the version of this command, of the cluster, and of the agent on each Node.')
    .option('--client', 'only of this command, without reading a cluster')
    .addHelpText(
      'after',
      `
Examples:
  $ tartan version
  $ tartan version -o json | jq -r '.agents[] | [.node, .version] | @tsv'

Exit codes: 0 shown; 2 the cluster cannot be read, and only the version of this command is shown; 130 interrupted.`,
    )
    .action((options: VersionOptions) => shell.run('version', () => showVersion(options, shell)));
};

const showVersion = async (options: VersionOptions, { stdout, env, signal }: Shell): Promise<number> => {
  const [
    { withCluster },
    { clientDocument, versionPage, versionsOf },
    { pageLines, widthOf, writeOutput },
    { systemClock },
  ] = await Promise.all([
    import('../cluster/connection.ts'),
    import('./version.ts'),
    import('../output/view.ts'),
    import('@tartan/kube/clock'),
  ]);
  const style = textStyleFor(stdout, env, options.color);
  const show = (document: ReturnType<typeof clientDocument>): void =>
    writeOutput({ stdout }, options.output, document, () =>
      pageLines(versionPage(document), widthOf({ stdout }), style),
    );
  if (options.client === true) {
    show(clientDocument(systemClock.now()));
    return 0;
  }
  try {
    show(await withCluster(options, env, (cluster) => versionsOf(cluster, signal)));
    return 0;
  } catch (error) {
    // The client version needs no cluster.
    if (!signal.aborted) show(clientDocument(systemClock.now()));
    throw error;
  }
};
