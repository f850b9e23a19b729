import type { Machine } from './record.ts';

/** Whose SSH key lets us in: that of the fleet, or one of its own for a machine that is of none. */
export const keyNameOf = ({ metadata, spec }: Machine): string =>
  spec.fleetName || `${metadata.namespace ?? ''}-${metadata.name}`;
