import type { Command } from 'commander';
import { choiceOf, type ClusterOptions, withClusterOptions } from '../command-options.ts';
import { runView } from '../output/run-view.ts';
import { textStyleFor } from '../output/terminal-text.ts';
import type { Shell } from '../shell.ts';

export const addFleetCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('fleet'), { watch: true })
    .description('Show machines, Macs, Nodes and virtual machines in one table.')
    .addHelpText(
      'after',
      `
One line for each machine, with its Mac, its Node and what runs there; then Macs that no machine has; then Nodes of Macs without a
machine. WHY is the first condition that keeps a machine from being Ready or up to date.

Needs the right to list scalewayapplesiliconmachines and machosts; without that of macfleets, nodes or pods it shows what is left.

Examples:
  $ tartan fleet
  $ tartan fleet --watch                                      redraws on a terminal; a line for each change elsewhere
  $ tartan fleet -o json | jq -r '.macs[] | select(.ready | not) | .machine'

Exit codes: 0 shown; 2 the cluster could not be looked at; 130 stopped.`,
    )
    .action((options: ClusterOptions) =>
      runView(shell, 'fleet', options, async () => (await import('./fleet.ts')).fleetView),
    );
};

export const addPoolCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('pool'), { watch: true })
    .description('Count Macs by state, type, macOS and zone; list those in quarantine, and until when.')
    .addHelpText(
      'after',
      `
Examples:
  $ tartan pool
  $ tartan pool -o json | jq '.free'                          how many could be claimed now

Exit codes: 0 shown; 2 the cluster could not be looked at; 130 stopped.`,
    )
    .action((options: ClusterOptions) =>
      runView(shell, 'pool', options, async () => (await import('./pool.ts')).poolView),
    );
};

interface OrphansOptions extends ClusterOptions {
  readonly orphanReclaimClaimNamePrefix?: string;
  readonly defaultAdoptPoolPrefix?: string;
}

export const addOrphansCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('orphans'), { watch: true, namespaces: false })
    .description('List Macs that no machine knows and that are in no pool, and what becomes of them.')
    .option('--orphan-reclaim-claim-name-prefix <prefix>', 'judge as a manager would with this flag')
    .option('--default-adopt-pool-prefix <prefix>', 'judge as a manager would with this flag')
    .addHelpText(
      'after',
      `
Such Macs cost money and do nothing. The manager finds them and says for each what its sweep does: this is shown. With one of the
two flags of the manager, it is shown what a manager with these flags would do, by the same function. Nothing is changed.

Examples:
  $ tartan orphans
  $ tartan orphans --orphan-reclaim-claim-name-prefix prod- --default-adopt-pool-prefix tuist-pool-

Exit codes: 0 none; 1 there are some; 2 the cluster could not be looked at; 130 stopped.`,
    )
    .action(({ orphanReclaimClaimNamePrefix, defaultAdoptPoolPrefix, ...options }: OrphansOptions) =>
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
    .option('--client', 'of this command only; no cluster is asked')
    .addHelpText(
      'after',
      `
Examples:
  $ tartan version
  $ tartan version -o json | jq -r '.agents[] | [.node, .version] | @tsv'

Exit codes: 0 shown; 2 the cluster could not be asked, and only this command's own is shown; 130 stopped.`,
    )
    .action((options: VersionOptions) => shell.run('version', () => showVersion(options, shell)));
};

const showVersion = async (options: VersionOptions, { stdout, env, signal }: Shell): Promise<number> => {
  const [{ withCluster }, { clientDocument, versionPage, versionsOf }, { pageLines }, { systemClock }] =
    await Promise.all([
      import('../cluster/connection.ts'),
      import('./version.ts'),
      import('../output/view.ts'),
      import('@tartan/kube/clock'),
    ]);
  const show = (document: ReturnType<typeof clientDocument>): void => {
    const look = textStyleFor(stdout, env, options.color);
    const width = stdout.isTTY === true ? stdout.columns : undefined;
    stdout.write(
      options.output === 'json'
        ? `${JSON.stringify(document, null, 2)}\n`
        : pageLines(versionPage(document), width, look)
            .map((line) => `${line}\n`)
            .join(''),
    );
  };
  if (options.client === true) {
    show(clientDocument(systemClock.now()));
    return 0;
  }
  try {
    show(await withCluster(choiceOf(options), env, (cluster) => versionsOf(cluster, signal)));
    return 0;
  } catch (error) {
    // What is known without a cluster is told all the same; the rest is for stderr and the exit code.
    if (!signal.aborted) show(clientDocument(systemClock.now()));
    throw error;
  }
};
