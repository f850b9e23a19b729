/** The controller of GitHub Actions runners: keeps the Pods of RunnerPools, and never takes one away that has a job. */

// What it is told when it starts.
export { parseFlags } from './flags.ts';

// All of it as one manager.
export { createRunnersManager } from './manager/runners-manager.ts';
export { explainedRunnersRBACRules, runnersRBACRules } from './rbac.ts';
