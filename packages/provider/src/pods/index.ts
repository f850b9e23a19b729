/** When a Pod may lose the finalizer of its agent without the agent, and how. The manager does it by itself, `tartan pods unstick` by hand. */
export { type Decision, decide, type Snapshot, defaultGraceMs, type NodePresence } from './decide.ts';
export { podFacts, type Node, type Pod } from './observe.ts';
export { type Removal, removeVMCleanupFinalizer } from './act.ts';
