import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type ContainerSnapshot, type ContainerState, phaseOf } from './pod.ts';

const facts = (state: ContainerState, more: Partial<ContainerSnapshot> = {}): ContainerSnapshot => ({
  name: 'main',
  image: 'image',
  state,
  lastState: {},
  restarts: 0,
  started: true,
  ready: true,
  id: '',
  ...more,
});
const at = '2026-01-01T00:00:00Z';
const running = facts({ running: { startedAt: at } });
const ended = (exitCode: number) => facts({ terminated: { exitCode } });
const creating = facts({ waiting: { reason: 'ContainerCreating' } });
const backOff = facts({ waiting: { reason: 'CrashLoopBackOff' } }, { lastState: { terminated: { exitCode: 1 } } });

describe('the phase of a Pod', () => {
  for (const [policy, containers, expected] of [
    ['Always', [creating], 'Pending'],
    ['Always', [running, creating], 'Pending'],
    ['Always', [running], 'Running'],
    ['Always', [backOff], 'Running'],
    ['Always', [ended(0)], 'Running'],
    ['Never', [ended(0)], 'Succeeded'],
    ['Never', [ended(0), running], 'Running'],
    ['Never', [ended(0), ended(1)], 'Failed'],
    ['OnFailure', [ended(0)], 'Succeeded'],
    ['OnFailure', [ended(1)], 'Running'],
  ] as const)
    test(`is ${expected} with ${policy} and ${containers.map(({ state }) => Object.keys(state)).join(', ')}`, () =>
      assert.equal(phaseOf(policy, containers), expected));
});
