/** For tests and benchmarks of other packages. */
export { exampleSpec } from './example-spec.ts';
export { fleetKey, connectToMac } from './connect-to-mac.ts';
export { plantedSecrets, workingSpec } from './working-spec.ts';
