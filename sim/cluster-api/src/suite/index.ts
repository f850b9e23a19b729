/** Scenarios of Cluster API core: for the stand-in here, and for core itself. */
export type { Host } from './harness.ts';
export { runClusterApiSuite } from './run.ts';
