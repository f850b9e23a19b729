import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pageLines } from '../output/view.ts';
import { aClusterState, aCondition, aHost, aMachine, aNode, aPod, aReadyMachine, heldBy } from '../testing/objects.ts';
import { fleetDocument, fleetView } from './fleet.ts';

const plain = { colours: false };
const shown = (parts: Parameters<typeof aClusterState>[0], width?: number): string[] => {
  const document = fleetView.documentOf(aClusterState(parts));
  fleetDocument.parse(document);
  return pageLines(fleetView.pageOf(document), width, plain);
};

describe('tartan fleet', () => {
  const someFleet = {
    machines: [
      aReadyMachine('mac-1', 'h-1'),
      aMachine('mac-2', {
        phase: 'Pending',
        conditions: [
          aCondition('Provisioned', 'False', 'NoAvailableHost', 'None is free. Order one.'),
          aCondition('Ready', 'False', 'NotProvisioned'),
        ],
      }),
    ],
    hosts: [
      aHost('h-1', { state: 'held' }, heldBy('mac-1')),
      aHost('h-2'),
      aHost('h-3', { state: 'stranded', name: 'x' }),
    ],
    nodes: [aNode('mac-1', { host: 'h-1', cordoned: true })],
    pods: [
      aPod('build-1', 'mac-1'),
      aPod('build-2', 'mac-1', {
        status: {
          phase: 'Pending',
          containerStatuses: [
            {
              name: 'vm',
              image: '',
              imageID: '',
              ready: false,
              restartCount: 0,
              state: { waiting: { reason: 'Pulling 40 %' } },
            },
          ],
        },
      }),
    ],
  };

  test('prints one table and a summary', () => {
    assert.deepEqual(shown(someFleet), [
      'MACHINE   FLEET   PHASE     HOST   STATE      FOR   NODE              AGENT    VMS                                   WHY',
      'mac-1     macos   Ready     h-1    held       30m   Ready, cordoned   v1.2.3   2/2 build-1, build-2 (Pulling 40 %)',
      'mac-2     macos   Pending                                                                                            NoAvailableHost: None is free.',
      '                            h-2    pool       30m',
      '                            h-3    stranded   30m',
      '',
      '1 of 2 machines Ready, 2 virtual machines, 1 free in the pool, 1 machine without a Mac, 1 stranded for up to 30m (tartan orphans).',
      'Why something is as it is: tartan explain NAME.',
    ]);
  });

  test('fits 60 columns', () => {
    for (const line of shown(someFleet, 60).slice(0, 5))
      assert.ok(line.length <= 110 && !line.includes('None is free'), line);
  });

  test('prints a sentence for an empty cluster, and notes for unreadable kinds', () => {
    assert.match(
      shown({ notes: ['You may not list pods.'] }).join('\n'),
      /^There are no machines and no Macs\.\nYou may not list pods\.$/,
    );
  });

  test('handles objects without status and arbitrary names (property test)', () => {
    const [, row] = shown({
      machines: [aMachine('m', null)],
      hosts: [aHost('h', null)],
      nodes: [{ ...aNode('m'), status: {} }],
    });
    assert.match(row ?? '', /^m +macos +unseen +Unknown +v1\.2\.3 +0\/\?/);
    const hostile = shown({
      hosts: [aHost('h', { since: 'never' })],
      machines: [aMachine('m', { conditions: [aCondition('Ready', 'False', 'X', '\u001B[2J\n\nboo')] })],
    });
    assert.ok(hostile.every((line) => !line.includes('\u001B')));
    assert.match(hostile[1] ?? '', /X: �\[2J boo$/);
    assert.match(hostile[2] ?? '', /pool +\?$/);
  });

  test('shows a thousand Macs', () => {
    const hosts = Array.from({ length: 1000 }, (_, at) => aHost(`h-${at}`));
    assert.equal(shown({ hosts }).length, 1000 + 3);
  });

  test('has a NAMESPACE column only with several namespaces', () => {
    const machines = [aMachine('a'), aMachine('b', {}, { namespace: 'other' })];
    assert.match(shown({ machines })[0] ?? '', /^NAMESPACE +MACHINE/);
  });
});
