import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pageLines } from '../output/view.ts';
import { aClusterState, aHost, aMachine, minutesAgo } from '../testing/objects.ts';
import { poolDocument, poolView } from './pool.ts';

const shown = (parts: Parameters<typeof aClusterState>[0]): string[] => {
  const document = poolView.documentOf(aClusterState(parts));
  poolDocument.parse(document);
  return pageLines(poolView.pageOf(document), undefined, { colours: false });
};

describe('tartan pool', () => {
  test('counts hosts by state, type, macOS and zone, with the oldest of each group', () => {
    const hosts = [
      aHost('a'),
      aHost('b', { since: minutesAgo(90) }),
      aHost('c', { serverStatus: 'starting', osFamily: 'Sequoia' }),
      aHost('d', { state: 'quarantined', quarantine: { count: 2, reason: 'It fails.', until: minutesAgo(-60) } }),
      aHost('e', null),
      aHost('f', { state: 'abandoned' }),
    ];
    assert.deepEqual(shown({ hosts, machines: [aMachine('m')] }), [
      'STATE         TYPE   OS        ZONE       COUNT   OLDEST   WHICH',
      'pool          M2-L   Sequoia   fr-par-1   1       30m      c',
      'pool          M2-L   Tahoe     fr-par-1   2       90m      b',
      'quarantined   M2-L   Tahoe     fr-par-1   1       30m      d',
      'abandoned     M2-L   Tahoe     fr-par-1   1       30m      f',
      'unseen        ?      ?         fr-par-1   1',
      '',
      'QUARANTINED   NAME           UNTIL                  TIMES   WHY',
      'd             tuist-pool-d   2026-05-01T13:00:00Z   2       It fails.',
      '',
      '6 Macs, 2 free to claim, 1 machine without a Mac.',
    ]);
  });

  test('lists active quarantines, expired ones that are not released yet, and invalid end times', () => {
    const quarantine = { count: 1, reason: 'x', until: minutesAgo(1) };
    const hosts = [
      aHost('a', { quarantine }),
      aHost('b', { state: 'quarantined', quarantine }),
      aHost('c', { quarantine: { ...quarantine, until: 'soon' } }),
    ];
    const { quarantined } = poolView.documentOf(aClusterState({ hosts }));
    assert.deepEqual(
      quarantined.map(({ host, over }) => [host, over]),
      [
        ['b', true],
        ['c', false],
      ],
    );
  });

  test('explains an empty pool', () => {
    assert.match(shown({})[0] ?? '', /^There are no Macs\./);
  });
});
