/** A stand-in for Cluster API core 1.14, for laptops and tests: its kinds and controllers. */
export { coreDefinitions } from './core-definitions.ts';
export { type ClusterApi, type ClusterApiOptions, createClusterApi } from './create-cluster-api.ts';
