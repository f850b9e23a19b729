import type { Scenario } from '../scenario.ts';
import { claimAndBootstrap, found } from './claim.ts';
import { paused, release, sweep } from './end.ts';
import { failedBootstrap, notWiped } from './give-back.ts';
import { lostNode, roll } from './life.ts';

/** The shortest first. */
export const scenarios: readonly Scenario[] = [
  found,
  paused,
  sweep,
  release,
  lostNode,
  roll,
  claimAndBootstrap,
  notWiped,
  failedBootstrap,
];
