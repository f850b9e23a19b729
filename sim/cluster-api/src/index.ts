/** A stand-in for Cluster API core, for laptops and tests. So far its kinds, without anybody who works on them. */
export { coreDefinitions } from './core-definitions.ts';
