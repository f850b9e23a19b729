import type { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../command-options.ts';
import type { Shell } from '../shell.ts';

export const addFaultCommand = (program: Command, shell: Shell): void => {
  const fault = program
    .command('fault')
    .description('Replay an incident on a simulated fleet and watch how Tartan reacts.')
    .usage('[options] NAME')
    .helpCommand(false)
    .addHelpText(
      'after',
      `
Example: tartan fault stuck-pods, while tartan up runs in another terminal. tartan fault list lists all incidents.`,
    );
  withClusterOptions(fault.command('list'), { namespaces: false })
    .description('List the incidents that can be replayed.')
    .addHelpText(
      'after',
      `
Each incident has happened in production. The tartan up process that started the cluster replays it on its simulated Macs.

Examples:
  $ tartan fault list
  $ tartan fault list -o json | jq -r '.faults[].name'

Exit codes: 0 listed; 2 the cluster cannot be read, or is not a simulated fleet; 130 interrupted.`,
    )
    .action((options: ClusterOptions) =>
      shell.run('fault list', async () => {
        const { listFaults } = await import('./client.ts');
        return listFaults(options, shell);
      }),
    );
  fault
    .command('play', { isDefault: true })
    .argument('<name>', 'the incident; see tartan fault list')
    .description(
      'Replay an incident, and print what happens until the fleet is healthy again. "tartan fault NAME" does the same.',
    )
    .option('--kubeconfig <file>', 'kubeconfig file (default: as kubectl, from KUBECONFIG or ~/.kube/config)')
    .option('--context <name>', 'context of the kubeconfig (default: the current one)')
    .addHelpText(
      'after',
      `
Prints what is broken and which commands show it; then how Tartan reacts, as it happens; then the result, and what an operator would
have to do. Repairs what is still broken at the end, also after Ctrl-C. If a fault lacks what it needs, such as a free Mac, the command
says so and changes nothing. Only one fault runs at a time.

This works on simulated fleets only: those that tartan up has started on this machine.

Examples:
  $ tartan up                              in one terminal
  $ tartan fault list                      in another, with the KUBECONFIG that tartan up prints
  $ tartan fault no-op-kickstart           launchctl reports success without a restart; the rollout stops
  $ tartan fault scaleway-outage           the API of Scaleway fails for a while

Exit codes: 0 Tartan reacted as expected; 1 it did not, or the fault cannot be played; 2 the cluster cannot be read, is not a simulated
fleet, or has no such fault; 130 interrupted, and repaired.`,
    )
    .action((name: string, options: Pick<ClusterOptions, 'kubeconfig' | 'context'>) =>
      shell.run('fault', async () => {
        const { replayFault } = await import('./client.ts');
        return replayFault(name, options, shell);
      }),
    );
};
