import type { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../cluster/options.ts';
import type { Shell } from '../shell.ts';
import { runView } from '../show/view-command.ts';

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
      runView(shell, 'fleet', options, async () => (await import('./view.ts')).fleetView),
    );
};
