import { createHash } from 'node:crypto';

/** Stands for a set of Nodes, whatever their order: the original's, so that a Deployment that it has stamped is not rolled anew. */
export const fleetHash = (names: readonly string[]): string =>
  createHash('sha256')
    .update([...names].sort().join(','))
    .digest('hex')
    .slice(0, 16);
