/** When a Pod may lose the finalizer of its agent without the agent, and how. The manager does it by itself, `tartan pods unstick` by hand. */
export { type Decision, decide, defaultGraceMs } from './decide.ts';
export { podFacts, type Pod } from './observe.ts';
export { removeVMCleanupFinalizer } from './act.ts';
