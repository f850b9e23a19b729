/** A simulated Scaleway: its Apple-silicon and IAM API over HTTP, with simulated Macs as servers. */
export type {
  EmbeddedScaleway,
  ScalewayState,
  ScalewayFaults,
  ScalewayOptions,
  SimulatedScaleway,
  SimulatedServer,
} from './scaleway.ts';
export { createScaleway } from './create-scaleway.ts';
export { startScaleway } from './start-scaleway.ts';
