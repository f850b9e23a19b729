/** When and how a Pod loses its agent's finalizer without the agent. The manager does it automatically, `tartan pods unstick` by hand. */
export { type Decision, decide, defaultGraceMs } from './decide.ts';
export type { Pod } from '../controller-deps.ts';
export { podFacts } from './act.ts';
export { removeVMCleanupFinalizer } from './act.ts';
