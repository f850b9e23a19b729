import type { Command } from 'commander';
import { choiceOf, type ClusterOptions, withClusterOptions } from '../command-options.ts';
import type { Shell } from '../shell.ts';

export const addFaultCommand = (program: Command, shell: Shell): void => {
  const fault = program
    .command('fault')
    .description('Play an incident on a simulated fleet, and watch what Tartan does about it.')
    .usage('[options] NAME')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Example: tartan fault stuck-pods, with tartan up running in another terminal. tartan fault list names them all.`,
    );
  withClusterOptions(fault.command('list'), { namespaces: false })
    .description('List the incidents that can be played.')
    .addHelpText(
      'after',
      `
Each of them has happened to somebody. They are played by the tartan up that has started the cluster, on its simulated Macs.

Examples:
  $ tartan fault list
  $ tartan fault list -o json | jq -r '.faults[].name'

Exit codes: 0 listed; 2 the cluster could not be asked, or is no simulated fleet; 130 stopped.`,
    )
    .action((options: ClusterOptions) =>
      shell.run('fault list', async () => {
        const { listFaults } = await import('./client.ts');
        return listFaults(options, shell);
      }),
    );
  fault
    .command('play', { isDefault: true })
    .argument('<name>', 'which one: see tartan fault list')
    .description('Play one of them, and say what happens, until the fleet is well again. Its name alone does the same.')
    .option('--kubeconfig <file>', 'which cluster (default: as kubectl, from KUBECONFIG or ~/.kube/config)')
    .option('--context <name>', 'a context of the kubeconfig other than the current one')
    .addHelpText(
      'after',
      `
First it is said what is done to the fleet, and which commands show it best; then what Tartan does about it, as it happens; at last how
it ended, and what a person would have to do. What was broken is mended at the end, and when you press Ctrl-C. A fault that lacks what
it needs, such as a free Mac, says so and changes nothing. One is played at a time.

Only simulated fleets can be broken this way: those that tartan up has started on this machine.

Examples:
  $ tartan up                              in one terminal
  $ tartan fault list                      in another, with the KUBECONFIG that it says
  $ tartan fault no-op-kickstart           launchctl lies, and the roll stops
  $ tartan fault scaleway-outage           the API of Scaleway is away for a while

Exit codes: 0 it ended as it should; 1 it did not, or could not be played; 2 the cluster could not be asked, is no simulated fleet, or
there is no such fault; 130 stopped by Ctrl-C, and mended.`,
    )
    .action((name: string, options: Pick<ClusterOptions, 'kubeconfig' | 'context'>) =>
      shell.run('fault', async () => {
        const { playFault } = await import('./client.ts');
        return playFault(name, choiceOf(options), shell);
      }),
    );
};
