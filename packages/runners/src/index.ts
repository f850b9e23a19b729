/** The controller of GitHub Actions runners: keeps the Pods of RunnerPools, and never deletes one that has a job. */

// Flags.
export { parseFlags } from './flags.ts';

// The manager.
export { createRunnersManager } from './manager/runners-manager.ts';
export { explainedRunnersRBACRules, runnersRBACRules } from './rbac.ts';
