/** For tests and benchmarks of whoever builds on hosts. */
export { fleetKey, reachMac } from './reach-mac.ts';
export { plantedSecrets, workingSpec } from './working-spec.ts';
