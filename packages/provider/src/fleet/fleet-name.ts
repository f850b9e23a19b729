import type { ScalewayAppleSiliconMachine } from '@tartan/api';
import type { Live } from '@tartan/kube';

/** The MacFleet of a machine, in its namespace. One that names no fleet is a fleet of its own, so that it can be rolled too. */
export const fleetNameOf = ({ metadata, spec }: Live<ScalewayAppleSiliconMachine>): string =>
  spec.fleetName || metadata.name;
