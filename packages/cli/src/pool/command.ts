import type { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../cluster/options.ts';
import type { Shell } from '../shell.ts';
import { runView } from '../show/view-command.ts';

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
      runView(shell, 'pool', options, async () => (await import('./view.ts')).poolView),
    );
};
