/** When a Pod may lose the finalizer of its agent without the agent, and how. The manager does it by itself, `tartan pods unstick` by hand. */
export { type Decision, decide, defaultGraceMs } from './decide.ts';
export type { Pod } from '../controller-deps.ts';
export { podFacts } from './act.ts';
export { removeVMCleanupFinalizer } from './act.ts';
