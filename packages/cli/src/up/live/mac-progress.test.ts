import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { MachineStatus } from '@tartan/api';
import { aHost, aMachine, aNode, aClusterState, heldBy } from '../../testing/objects.ts';
import { progressOf, type StepOnMac } from './mac-progress.ts';

const steps = (done: number): StepOnMac[] => ['first', 'second'].map((title, at) => ({ title, done: at < done }));

const cases: readonly [phase: MachineStatus['phase'], done: number, hasNode: boolean, what: string | undefined][] = [
  [undefined, 0, false, 'waits for a Mac'],
  ['Pending', 0, false, 'waits for a Mac'],
  ['Adopting', 0, false, 'claims its Mac'],
  ['Bootstrapping', 0, false, 'first'],
  ['Bootstrapping', 1, false, 'second'],
  ['Bootstrapping', 2, false, 'joining'],
  ['NotReady', 2, false, 'joining'],
  ['NotReady', 2, true, undefined],
  ['Ready', 2, true, undefined],
  ['Updating', 1, true, undefined],
  ['Failed', 2, true, undefined],
  ['Deleting', 2, true, undefined],
];

describe('a machine', () => {
  for (const [phase, done, hasNode, what] of cases)
    test(`${phase ?? 'of which nothing is known'}, ${done} of 2 done: ${what ?? 'it is up'}`, () => {
      const world = aClusterState({
        machines: [aMachine('m', phase === undefined ? null : { phase })],
        hosts: [aHost('h', { state: 'held' }, heldBy('m')), aHost('free')],
        nodes: hasNode ? [aNode('m')] : [],
      });
      const seen: (string | undefined)[] = [];
      const [only, ...more] = progressOf(world, (host) => {
        seen.push(host);
        return steps(done);
      });
      assert.deepEqual(only, { machine: 'm', steps: steps(done), what: what ?? 'Ready', isUp: what === undefined });
      assert.deepEqual([more, seen], [[], ['h']]);
    });
});
