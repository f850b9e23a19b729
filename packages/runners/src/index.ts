/** The controller of GitHub Actions runners: keeps the Pods of RunnerPools, and never takes one away that has a job. */

// What it is told when it starts.
export { parseFlags } from './flags/parse-flags.ts';

// All of it as one manager.
export { createRunnersManager } from './manager/create-runners-manager.ts';
export { explainedRunnersRights, runnersRights } from './rights.ts';
