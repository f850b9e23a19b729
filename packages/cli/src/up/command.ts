import type { Command } from 'commander';
import { integerBetween, parsePort } from '../command-options.ts';
import { textStyleFor } from '../output/terminal-text.ts';
import type { Shell } from '../shell.ts';
import type { UpOptions } from './up.ts';

export const addUpCommand = (program: Command, { stdin, stdout, env, signal, run }: Shell): void => {
  program
    .command('up')
    .description('Start a fleet of simulated Macs on this machine and keep it running until Ctrl-C.')
    .option('--pool <count>', 'Macs that are rented', integerBetween(1, 64), 5)
    .option(
      '--machines <count>',
      'machines that are asked for, in the fleets macos, runners and builders',
      integerBetween(1, 64),
      4,
    )
    .option(
      '--builders <count>',
      'how many of them bake images, 0 or 1 (default: 1 when there are at least 3 machines)',
      integerBetween(0, 1),
    )
    .option('--speed <times>', 'how many times faster than real Macs these are', integerBetween(1, 1000), 100)
    .option('--port <port>', 'port of the Kubernetes API on 127.0.0.1; 0 takes a free one', parsePort, 0)
    .option('--data <folder>', 'keep everything there; the next start with it goes on where this one ended')
    .option(
      '--kubernetes <which>',
      'embedded, real (built from source with Go; in a checkout), or the kubeconfig of a cluster without a fleet',
      'embedded',
    )
    .option('--once', 'stop again as soon as a Pod runs on a Mac: exit code 0 says that it works here')
    .addHelpText(
      'after',
      `
What starts is an embedded Kubernetes, a simulated Scaleway with a pool of simulated Macs, a stand-in for Cluster API core, and
the provider, which claims Macs for machines and prepares them over SSH. The agent runs on each, as on a real one, and a Pod becomes
a virtual machine of a stand-in for tart. A simulated GitHub queues a few jobs a minute; a controller keeps runners for them on the
fleet runners, a virtual machine for each job, and the Mac of the fleet builders has a runner of its own. No container, no download,
nothing outside one temporary folder, which is removed when it stops. Real kubectl works against it.

With --data everything goes on where it was, but for GitHub, which begins anew: runners of before end, and are replaced.

Examples:
  $ tartan up                             start, say what happens and what to try, run until Ctrl-C
  $ tartan up --pool 8 --machines 6       a larger fleet
  $ tartan up --data ./fleet              stop it today, go on tomorrow
  $ tartan up --speed 10                  slow enough to watch a Mac being wiped
  $ tartan up --port 6443                 always under the same address
  $ tartan up --once                      check that this machine can run it

Exit codes: 0 it was stopped, or --once has seen it work; 1 it cannot start or broke, and says why; 2 wrong arguments.`,
    )
    .action((options: Omit<UpOptions, 'once'> & { once?: boolean }) =>
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
          // What is redrawn in place needs a terminal that keys are pressed on, too.
          const isLive = stdout.isTTY === true && stdin.isTTY === true && env['TERM'] !== 'dumb';
          const view = isLive ? createLiveView({ stdout, style, clock }) : createPlainView({ stdout, style, clock });
          return up({ ...options, once: options.once ?? false }, { view, stdin, signal });
        },
        1,
      ),
    );
};
