import { type Command, Option } from 'commander';
import { integerBetween, parsePort } from '../command-options.ts';
import { textStyleFor } from '../output/terminal-text.ts';
import type { Shell } from '../shell.ts';
import type { UpOptions } from './up.ts';

export const addUpCommand = (program: Command, { stdin, stdout, env, signal, run }: Shell): void => {
  program
    .command('up')
    .description('Start a fleet of simulated Macs on this machine and keep it running until Ctrl-C.')
    .option('--pool <count>', 'rented Macs (default: one more than machines)', integerBetween(1, 64))
    .option('--machines <count>', 'machines in the fleets macos, runners and builders', integerBetween(1, 64), 4)
    .addOption(
      new Option(
        '--hosts <kind>',
        'simulated: Macs with SSH, a shell and the agent; played: only what agents tell Kubernetes, for large fleets',
      )
        .choices(['simulated', 'played'])
        .default('simulated'),
    )
    .option(
      '--builders <count>',
      'machines that bake images, 0 or 1 (default: 1 if there are at least 3 machines)',
      integerBetween(0, 1),
    )
    .option(
      '--speed <times>',
      'how many times faster than real Macs the simulated ones are',
      integerBetween(1, 1000),
      100,
    )
    .option('--port <port>', 'port of the Kubernetes API on 127.0.0.1; 0 picks a free one', parsePort, 0)
    .option('--data <folder>', 'keep all files in this folder; the next start with it continues from there')
    .option(
      '--kubernetes <which>',
      'embedded, real (built from source with Go; needs a checkout), or the kubeconfig of a cluster without a fleet',
      'embedded',
    )
    .option('--once', 'stop as soon as a Pod runs on a Mac; exit code 0 means success')
    .addHelpText(
      'after',
      `
The command starts an embedded Kubernetes, a simulated Scaleway with a pool of simulated Macs, a stand-in for Cluster API core, and
the provider, which claims Macs for machines and prepares them over SSH. Each Mac runs the real agent, which turns Pods into virtual
machines of a simulated tart. A simulated GitHub queues a few jobs a minute. The runners controller keeps runners for them on the fleet
runners, a virtual machine per job; the Mac of the fleet builders has its own runner. There are no containers and no downloads. All
files are in one temporary folder, which is removed at the end. kubectl works with this cluster.

With --hosts played no Mac has SSH, a shell or virtual machines: pushes succeed after a second, the Node and its Lease come from the
agent's own code, and Pods run in name only. All machines are in the fleet macos, there is no GitHub, and tartan fault and kubectl logs
and exec do not work. A Mac takes a few megabytes instead of a few processes.

With --data the next start continues from the stored state. Only GitHub starts anew: its runners are replaced.

Examples:
  $ tartan up                             start, show what happens and what to try, run until Ctrl-C
  $ tartan up --pool 8 --machines 6       a larger fleet
  $ tartan up --machines 50 --hosts played  a large fleet on a laptop
  $ tartan up --data ./fleet              stop it today, continue tomorrow
  $ tartan up --speed 10                  slow enough to watch a Mac being wiped
  $ tartan up --port 6443                 always at the same address
  $ tartan up --once                      check that this machine can run it

Exit codes: 0 stopped, or --once succeeded; 1 the start failed or a part crashed, and the output says why; 2 wrong arguments.`,
    )
    .action((options: UpOptions) =>
      run(
        'up',
        async () => {
          const [{ up }, { createLiveView }, { createPlainView }, { systemClock: clock }] = await Promise.all([
            import('./up.ts'),
            import('./live/live-view.ts'),
            import('./live/plain-view.ts'),
            import('@tartan/kube/clock'),
          ]);
          const style = textStyleFor(stdout, env);
          // A live view needs the keys of a terminal too.
          const isLive = stdout.isTTY === true && stdin.isTTY === true && env['TERM'] !== 'dumb';
          const view = isLive ? createLiveView({ stdout, style, clock }) : createPlainView({ stdout, style, clock });
          return up(options, { view, stdin, signal });
        },
        1,
      ),
    );
};
