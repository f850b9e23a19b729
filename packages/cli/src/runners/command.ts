import type { Command } from 'commander';
import { type ClusterOptions, withClusterOptions } from '../command-options.ts';
import { runView } from '../output/run-view.ts';
import type { Shell } from '../shell.ts';

export const addRunnersCommand = (program: Command, shell: Shell): void => {
  withClusterOptions(program.command('runners'), { watch: true })
    .argument('[pool]', 'a RunnerPool; its Pods are shown too')
    .description('Show pools of GitHub runners: idle and busy runners, the job queue, and the state of each pool.')
    .addHelpText(
      'after',
      `
A pool keeps WANTED Pods. Each Pod is a virtual machine that runs one job and ends. WARM Pods wait for a job. BUSY Pods have a job, or
may have one, and are not deleted. RETIRING Pods get no more jobs and end. STALE Pods have an outdated image. STUCK Pods did not start,
or do not terminate. QUEUE counts jobs at GitHub that wait for these runners; OLDEST is how long the first of them has waited.

STATE is the most severe of these that applies:
  unseen        no controller has reconciled the pool     no github     spec.github is not set
  github away   GitHub refuses or does not answer         starved       jobs and runners both wait: check labels and group
  saturated     all runners have a job, and more wait     no room       the Macs of the fleet are full
  stuck         some Pods are stuck                       rolling       outdated Pods are replaced, idle ones first
  draining      more Pods than wanted; jobs finish        filling       Pods are created, or start
  deleting      the pool is deleted after its last job    ready         the pool has all its Pods

With the name of a pool, the command lists its Pods. JOB is what the guest reports: started, none, or unknown, which counts as busy.
RETIRED is since when GitHub gives the Pod no jobs. The last Pods that ended follow, with the exit code of the runner.

Requires permission to list runnerpools; for the Pods of a pool also pods.

Examples:
  $ tartan runners
  $ tartan runners macos --watch
  $ tartan runners -o json | jq -r '.pools[] | select(.queue.jobs > 0) | "\\(.pool) \\(.state) \\(.queue.oldestSince)"'

Exit codes: 0 shown; 1 there is no such pool; 2 the cluster cannot be read; 130 interrupted.`,
    )
    .action((pool: string | undefined, options: ClusterOptions) =>
      runView(shell, 'runners', options, async () => (await import('./view.ts')).runnersView(pool)),
    );
};
