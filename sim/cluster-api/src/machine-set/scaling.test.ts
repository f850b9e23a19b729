import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Live } from '@tartan/kube';
import type { Machine } from '../kinds.ts';
import { annotations } from '../names.ts';
import { decide, type Decision } from './scaling.ts';

type Mark = 'healthy' | 'nodeless' | 'unwell' | 'marked' | 'leaving';

const now = '2026-01-01T00:00:00Z';
/** Created one minute after the one before. */
const machine = (mark: Mark, index: number): Live<Machine> => ({
  metadata: {
    name: `m-${index}`,
    uid: String(index),
    resourceVersion: '1',
    creationTimestamp: new Date(Date.parse(now) + index * 60_000).toISOString(),
    ...(mark === 'marked' && { annotations: { [annotations.deleteMachine]: '' } }),
    ...(mark === 'leaving' && { deletionTimestamp: now }),
  },
  status: {
    ...(mark !== 'nodeless' && { nodeRef: { name: 'n' } }),
    conditions: [
      {
        type: 'NodeHealthy',
        status: mark === 'unwell' ? 'False' : 'True',
        reason: 'X',
        message: '',
        lastTransitionTime: now,
      },
    ],
  },
});

interface Row {
  replicas?: number;
  order?: 'Random' | 'Newest' | 'Oldest';
  leaves?: boolean;
  mayCreate?: boolean;
}

const decided = (marks: readonly Mark[], { replicas = 1, order, leaves = false, mayCreate = true }: Row): Decision =>
  decide({
    machineSet: {
      metadata: {
        name: 's',
        uid: 's',
        resourceVersion: '1',
        creationTimestamp: now,
        ...(leaves && { deletionTimestamp: now }),
        annotations: { [annotations.disableMachineCreate]: String(!mayCreate) },
      },
      spec: { replicas, ...(order && { deletion: { order } }) },
    },
    cluster: undefined as never,
    machineDeployment: undefined,
    machines: marks.map(machine),
    template: undefined,
    now: 0,
  });

const rest: Decision = { kind: 'none' };
const takes = (...names: string[]): Decision => ({ kind: 'delete', machines: names });

describe('scaling of a MachineSet', () => {
  const table: [string, readonly Mark[], Row, Decision][] = [
    ['as many as wanted', ['healthy'], {}, rest],
    ['none, and none wanted', [], { replicas: 0 }, rest],
    ['too few', ['healthy'], { replicas: 3 }, { kind: 'create', count: 2 }],
    ['too few, but it may not make any', [], { mayCreate: false }, rest],
    ['one that goes still counts', ['leaving'], {}, rest],
    ['too many', ['healthy', 'healthy'], {}, takes('m-0')],
    ['too many, one of which goes already', ['healthy', 'leaving'], {}, rest],
    ['the marked one first', ['unwell', 'marked', 'nodeless'], { replicas: 2 }, takes('m-1')],
    ['then one that is not well', ['healthy', 'unwell'], {}, takes('m-1')],
    ['or that has no Node', ['healthy', 'nodeless'], {}, takes('m-1')],
    ['the oldest', ['healthy', 'healthy'], { order: 'Oldest' }, takes('m-0')],
    ['the newest', ['healthy', 'healthy', 'healthy'], { order: 'Newest', replicas: 2 }, takes('m-2')],
    ['none wanted any more', ['healthy', 'unwell'], { replicas: 0 }, takes('m-1', 'm-0')],
    ['it goes itself', ['healthy', 'leaving'], { leaves: true }, takes('m-0')],
    ['it goes, and waits for the last', ['leaving'], { leaves: true }, rest],
    ['it goes, and nothing is left', [], { leaves: true, replicas: 3 }, { kind: 'finish' }],
  ];
  for (const [name, marks, row, decision] of table)
    it(name, () => {
      assert.deepEqual(decided(marks, row), decision);
    });
});
