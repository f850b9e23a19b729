import type { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../cluster/options.ts';
import type { Shell } from '../shell.ts';
import { runView } from '../show/view-command.ts';

interface Given extends ClusterOptions {
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
    .action(({ orphanReclaimClaimNamePrefix, defaultAdoptPoolPrefix, ...options }: Given) =>
      runView(shell, 'orphans', options, async () => {
        const { orphansView } = await import('./view.ts');
        const given = orphanReclaimClaimNamePrefix !== undefined || defaultAdoptPoolPrefix !== undefined;
        return orphansView(
          given
            ? { claimNamePrefix: orphanReclaimClaimNamePrefix, defaultPoolPrefix: defaultAdoptPoolPrefix }
            : undefined,
        );
      }),
    );
};
