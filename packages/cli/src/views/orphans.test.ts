import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { pageLines } from '../output/view.ts';
import { aClusterState, aCondition, aHost, aMachine, heldBy, minutesAgo } from '../testing/objects.ts';
import { orphansDocument, orphansView } from './orphans.ts';

const stranded = (id: string, name: string) => aHost(id, { state: 'stranded', name, since: minutesAgo(90) });
const judged = (parts: Parameters<typeof aClusterState>[0], policy?: Parameters<typeof orphansView>[0]) => {
  const document = orphansView(policy).documentOf(aClusterState(parts));
  orphansDocument.parse(document);
  return document.orphans.map(({ host, verdict, reason }) => [host, verdict, reason]);
};

describe('tartan orphans', () => {
  const policy = { claimNamePrefix: 'prod-', defaultPoolPrefix: 'tuist-pool-' };

  test('shows the verdict of the manager, or the default without one', () => {
    const reported = aHost('a', {
      state: 'stranded',
      conditions: [aCondition('Stranded', 'True', 'Reclaiming', 'It is wiped.')],
    });
    assert.deepEqual(judged({ hosts: [reported, stranded('b', 'prod-7'), aHost('free')] }), [
      ['b', 'leave', 'ReportOnly'],
      ['a', 'reclaim', 'Reclaiming'],
    ]);
  });

  test('with flags it shows the verdict of a manager with these flags', () => {
    const reported = aHost('a', {
      state: 'stranded',
      name: 'bob',
      conditions: [aCondition('Stranded', 'True', 'Reclaiming', '')],
    });
    assert.deepEqual(
      judged({ hosts: [reported, stranded('b', 'prod-7'), stranded('c', 'tuist-claim-pending-9')] }, policy),
      [
        ['b', 'reclaim', 'Reclaiming'],
        ['c', 'reclaim', 'Reclaiming'],
        ['a', 'leave', 'NotOurs'],
      ],
    );
  });

  test('a host that a machine may need is never shown as reclaimed', () => {
    const hosts = [aHost('a', { state: 'stranded', name: 'prod-1' }, heldBy('prod-1'))];
    assert.deepEqual(judged({ hosts, machines: [aMachine('prod-1')] }, policy), [['a', 'needed', 'Reclaiming']]);
  });

  test('prints each reason once and exits with 1 when there are orphans', () => {
    const view = orphansView(undefined);
    const many = view.documentOf(
      aClusterState({ hosts: Array.from({ length: 30 }, (_, at) => stranded(`h-${at}`, `x-${at}`)) }),
    );
    const lines = pageLines(view.pageOf(many), undefined, { colours: false });
    assert.equal(lines.filter((line) => line.startsWith('h-')).length, 30);
    assert.match(
      lines.slice(32).join(' '),
      /^The Mac x-\d+ is in no pool and no machine knows it\. Nothing is done.*\(29 more\.\)$/,
    );
    assert.equal(view.exitCode(many), 1);
    const none = view.documentOf(aClusterState());
    assert.equal(view.exitCode(none), 0);
    assert.match(view.pageOf(none).lines[0] ?? '', /^No Mac is stranded/);
  });
});
