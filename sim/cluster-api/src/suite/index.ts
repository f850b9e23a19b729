/** What Cluster API core does, as scenarios: for the stand-in here, and for core itself. */
export type { Host } from './harness.ts';
export { runClusterApiSuite } from './run.ts';
