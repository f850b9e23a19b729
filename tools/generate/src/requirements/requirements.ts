import type { Requirements } from './requirement.ts';
import { bootstrapTransport } from './rows/bootstrap-transport.ts';
import { buildersAndCollection } from './rows/builders-and-collection.ts';
import { clusterApi } from './rows/cluster-api.ts';
import { hostPreparation } from './rows/host-preparation.ts';
import { otherParts } from './rows/other-parts.ts';
import { poolAndReclaim } from './rows/pool-and-reclaim.ts';

export const requirements: Requirements = {
  chapters: [bootstrapTransport, buildersAndCollection, clusterApi, hostPreparation, poolAndReclaim, otherParts],
  sizes: { A: 6, B: 7, C: 9, D: 6, E: 9, F: 7 },
  mayBeOpen: [],
};
