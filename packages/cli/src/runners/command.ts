import type { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../command-options.ts';
import { runView } from '../output/run-view.ts';
import type { Shell } from '../shell.ts';

export const addRunnersCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('runners'), { watch: true })
    .argument('[pool]', 'a RunnerPool: its Pods are shown, too')
    .description('Show pools of GitHub runners: warm, busy, what waits in the queue, and why a pool is as it is.')
    .addHelpText(
      'after',
      `
A pool keeps WANTED Pods, each a virtual machine that runs one job and ends. WARM ones wait for a job; BUSY ones have one, or may have:
nobody takes them away. RETIRING ones get no more jobs, and end; STALE ones have another image than is wanted; STUCK ones never
started, or do not go away. QUEUE counts jobs at GitHub that ask for these runners and have none, and OLDEST how long the first waits.

STATE is the worst of what holds:
  unseen        no controller has looked at it            no github     spec.github is not set
  github away   GitHub refuses or does not answer         starved       jobs wait though runners do: look at labels and group
  saturated     all runners have a job, and more wait     no room       the Macs of the fleet are full
  stuck         some Pods are stuck                       rolling       Pods with another image are replaced, idle ones first
  draining      more Pods than wanted; jobs are finished  filling       Pods are made, or start
  deleting      the pool goes when its last job is done   ready         all is as wanted

With the name of a pool its Pods follow. JOB is the guest's own word, told by its agent: started, none, or unknown, which counts as busy.
RETIRED is how long GitHub has given it no job any more. Below are those that ended last, with the code of the runner.

Needs the right to list runnerpools; for the Pods of a pool that of pods.

Examples:
  $ tartan runners
  $ tartan runners macos --watch
  $ tartan runners -o json | jq -r '.pools[] | select(.queue.jobs > 0) | "\\(.pool) \\(.state) \\(.queue.oldestSince)"'

Exit codes: 0 shown; 1 there is no such pool; 2 the cluster could not be looked at; 130 stopped.`,
    )
    .action((pool: string | undefined, options: ClusterOptions) =>
      runView(shell, 'runners', options, async () => (await import('./view.ts')).runnersView(pool)),
    );
};
