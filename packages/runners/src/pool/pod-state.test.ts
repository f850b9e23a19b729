import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type PodState, podStateOf } from './pod-state.ts';
import type { PodFacts } from './snapshot.ts';
import {
  ago,
  busy,
  ended,
  goneMac,
  pending,
  retired,
  notReadyMac,
  terminating,
  unregistered,
  unscheduled,
  warm,
} from './testing/snapshots.ts';

const table: [string, PodFacts, PodState][] = [
  ['waits for a job', warm('a'), 'idle'],
  ['waits for a job on a Mac that is not Ready', warm('a', { node: notReadyMac }), 'busy'],
  ['has a job', busy('a'), 'busy'],
  ['has a job, of which only the marker tells', busy('a', { phase: 'pending' }), 'busy'],
  ['runs, and has said nothing', warm('a', { job: 'unknown' }), 'busy'],
  ['has a runner and no machine yet', pending('a'), 'idle'],
  ['has a runner and no VM yet, on a Mac that is not Ready', pending('a', { node: notReadyMac }), 'busy'],
  ['has no runner', unregistered('a'), 'unregistered'],
  ['has no runner, on a Mac that is not Ready', unregistered('a', { node: notReadyMac }), 'unregistered'],
  ['has no Mac', unscheduled('a'), 'unregistered'],
  ['runs and is not marked with its runner', warm('a', { runnerID: undefined }), 'busy'],
  ['has a job and is not marked with its runner', unregistered('a', { job: 'started' }), 'busy'],
  ['is retired', retired('a', 1), 'retired'],
  ['is retired and has a job all the same', retired('a', 1, { job: 'started' }), 'retired'],
  ['has ended', ended('a'), 'ended'],
  ['has ended, and was deleted', ended('a', { deletedAt: ago(1) }), 'terminating'],
  ['has ended on a Mac that is gone', ended('a', { node: goneMac }), 'ended'],
  ['was deleted', terminating('a'), 'terminating'],
  ['had a job on a Mac that is gone', busy('a', { node: goneMac }), 'lost'],
  ['was retired on a Mac that is gone', retired('a', 1, { node: goneMac }), 'lost'],
  ['was deleted on a Mac that is gone', terminating('a', { node: goneMac }), 'terminating'],
];

describe('a Pod that', () => {
  for (const [name, pod, standing] of table)
    it(`${name}: ${standing}`, () => {
      assert.equal(podStateOf(pod), standing);
    });
});
