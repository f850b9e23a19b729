import type { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../command-options.ts';
import { runView } from '../output/run-view.ts';
import { type Shell, withCommandName } from '../shell.ts';

export const addRollCommand = (program: Command, shell: Shell): void => {
  const roll = program
    .command('roll')
    .description('Show, pause and resume the rollout of a fleet: see roll status, pause and resume.')
    .helpCommand(false);
  addStatus(roll, shell);
  addPauseCommand(roll, shell, 'pause');
  addPauseCommand(roll, shell, 'resume');
};

const addStatus = (roll: Command, shell: Shell): void => {
  withClusterOptions(roll.command('status'), { watch: true })
    .argument('[fleet]', 'a MacFleet (default: all of them)')
    .description('Show the progress of each rollout, the machines being updated, and why a rollout has stopped.')
    .addHelpText(
      'after',
      `
Examples:
  $ tartan roll status
  $ tartan roll status macos --watch
  $ tartan roll status -o json | jq -e 'all(.fleets[]; .stopped == null)'

Exit codes: 0 no rollout has stopped; 1 one has, or there is no such fleet; 2 the cluster cannot be read; 130 interrupted.`,
    )
    .action((fleet: string | undefined, options: ClusterOptions) =>
      runView(shell, 'roll status', options, async () => (await import('./status.ts')).rollView(fleet)),
    );
};

const pauseCommands = {
  pause: {
    paused: true,
    description: 'Pause the rollout of a fleet. Machines already updating finish.',
    done: 'is paused. Machines already updating finish. To resume: tartan roll resume',
    already: 'was already paused.',
  },
  resume: {
    paused: false,
    description: 'Resume the rollout of a paused fleet.',
    done: 'is resumed. To see the progress: tartan roll status',
    already: 'was not paused.',
  },
} as const;

const addPauseCommand = (roll: Command, shell: Shell, name: keyof typeof pauseCommands): void => {
  const { paused, description, done, already } = pauseCommands[name];
  withClusterOptions(roll.command(name))
    .argument('[fleet]', 'a MacFleet (default: the only one)')
    .description(description)
    .addHelpText(
      'after',
      `
Sets spec.paused of the MacFleet to ${paused}, with optimistic locking. The chart does not set that field, so helm upgrade and helm
rollback keep it. rollout.paused in the values is a second switch: either one pauses the rollout.
Requires permission to list, get and patch macfleets.

Examples:
  $ tartan roll ${name}                                         the only fleet of the cluster
  $ tartan roll ${name} macos -n tuist

Exit codes: 0 done; 1 there is no such fleet, or several, or the chart values still pause it; 2 the cluster cannot be read; 130 interrupted.`,
    )
    .action((fleet: string | undefined, options: ClusterOptions) =>
      shell.run(`roll ${name}`, async () => {
        const [{ withCluster }, { setPaused }, { writeOutput }] = await Promise.all([
          import('../cluster/connection.ts'),
          import('./pause.ts'),
          import('../output/view.ts'),
        ]);
        const document = await withCluster(options, shell.env, (cluster) =>
          setPaused(cluster, { ...options, name: fleet, paused }, { signal: shell.signal }),
        );
        const still = !paused && document.paused;
        const text = still
          ? `${document.fleet} is still paused by the values of its chart release. Set rollout.paused of the fleet to false in the values, then run helm upgrade.`
          : `${document.fleet} ${document.changed ? `${done} ${document.fleet}` : already}`;
        writeOutput(shell, options.output, document, () => [withCommandName(shell.commandName, text)]);
        return still ? 1 : 0;
      }),
    );
};
