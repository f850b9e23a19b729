import type { Scenario } from '../run-scenario.ts';
import { garbageCollection } from './garbage-collection.ts';
import { exit, restart, withoutAddress } from './guest-exit.ts';
import { deletion, forcedDeletion, unresponsiveGuest } from './pod-deletion.ts';
import { refusedStart, sharedImage } from './several-pods.ts';

export const scenarios: readonly Scenario[] = [
  exit,
  withoutAddress,
  deletion,
  unresponsiveGuest,
  restart,
  forcedDeletion,
  refusedStart,
  garbageCollection,
  sharedImage,
];
