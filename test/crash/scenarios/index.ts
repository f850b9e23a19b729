import type { Scenario } from '../run-scenario.ts';
import { claimAndBootstrap, inventory } from './claim.ts';
import { failedBootstrap, notWiped } from './failed-bootstrap.ts';
import { paused, release, sweep } from './release-and-sweep.ts';
import { lostNode, roll } from './rollout.ts';

/** Shortest first. */
export const scenarios: readonly Scenario[] = [
  inventory,
  paused,
  sweep,
  release,
  lostNode,
  roll,
  claimAndBootstrap,
  notWiped,
  failedBootstrap,
];
