/** When a Pod may lose the finalizer of its agent without the agent, and how. The manager does it by itself, `tartan pods unstick` by hand. */
export { type Decision, decide, type Snapshot, usualGraceMs, type Whereabouts } from './decide.ts';
export { factsOf, type Node, type Pod } from './observe.ts';
export { type Removal, removeVMCleanup } from './remove-finalizer.ts';
