import type { Scenario } from '../run-scenario.ts';
import { collection } from './garbage-collection.ts';
import { end, restart, withoutAddress } from './guest-exit.ts';
import { deletion, forcedDeletion, unresponsiveGuest } from './pod-deletion.ts';
import { refusedStart, sharedImage } from './several-pods.ts';

export const scenarios: readonly Scenario[] = [
  end,
  withoutAddress,
  deletion,
  unresponsiveGuest,
  restart,
  forcedDeletion,
  refusedStart,
  collection,
  sharedImage,
];
