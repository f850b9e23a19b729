import { hostStateMeanings } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import { ageSince } from '../show/age.ts';
import type { Table } from '../show/table.ts';
import type { Page, View } from '../show/view.ts';
import type { Host, World } from '../world/observe.ts';
import { worldSight } from '../world/world-sight.ts';
import type { PoolDocument } from './document.ts';

const states: readonly string[] = Object.keys(hostStateMeanings);

const documentOf = ({ now, hosts, machines, notes }: World): PoolDocument => {
  const groups = Map.groupBy(hosts, ({ spec, status }) =>
    JSON.stringify([status?.state, status?.type, status?.osFamily, spec.zone]),
  );
  return {
    schema: 'tartan.pool/v1',
    at: timestamp(now),
    total: hosts.length,
    free: hosts.filter(({ status }) => status?.state === 'pool' && status.serverStatus === 'ready').length,
    waiting: machines.filter(({ metadata, status }) => !status?.serverID && !metadata.deletionTimestamp).length,
    groups: [...groups.values()].map(groupOf).sort(inOrder),
    quarantined: hosts.flatMap((host) => quarantineOf(host, now)).sort((a, b) => (a.until < b.until ? -1 : 1)),
    notes: [...notes],
  };
};

type Group = PoolDocument['groups'][number];

const groupOf = (hosts: readonly Host[]): Group => {
  const [first] = hosts;
  const known = hosts.filter(({ status }) => !Number.isNaN(Date.parse(status?.since ?? '')));
  const [oldest] = known.sort((a, b) => Date.parse(a.status?.since ?? '') - Date.parse(b.status?.since ?? ''));
  return {
    state: first?.status?.state ?? null,
    type: first?.status?.type ?? null,
    os: first?.status?.osFamily ?? null,
    zone: first?.spec.zone ?? '',
    count: hosts.length,
    oldest: oldest?.status?.since ?? null,
    oldestHost: oldest?.metadata.name ?? null,
  };
};

const placeOf = ({ state }: Group): number => (state === null ? states.length : states.indexOf(state));
const labelOf = ({ type, os, zone }: Group): string => `${type} ${os} ${zone}`;
const inOrder = (a: Group, b: Group): number => placeOf(a) - placeOf(b) || (labelOf(a) < labelOf(b) ? -1 : 1);

/** Remembered beyond its end: how often a Mac has failed counts for the next time. */
const quarantineOf = ({ metadata, status }: Host, now: number): PoolDocument['quarantined'] => {
  const { quarantine, state } = status ?? {};
  if (quarantine === undefined) return [];
  // A time that is none is never over, as for whoever would claim the Mac.
  const over = Date.parse(quarantine.until) <= now;
  if (over && state !== 'quarantined') return [];
  const { until, count, reason } = quarantine;
  return [{ host: metadata.name, name: status?.name ?? null, until, over, count, reason }];
};

const groupTable = ({ groups, at }: PoolDocument): Table => ({
  head: ['STATE', 'TYPE', 'OS', 'ZONE', 'COUNT', 'OLDEST', 'WHICH'],
  rows: groups.map((group) => ({
    key: `group ${group.state} ${labelOf(group)}`,
    cells: [
      {
        text: group.state ?? 'unseen',
        tone: group.state === 'stranded' || group.state === 'abandoned' ? 'bad' : undefined,
      },
      group.type ?? '?',
      group.os ?? '?',
      group.zone,
      String(group.count),
      { text: ageSince(group.oldest, Date.parse(at)), passing: true },
      group.oldestHost ?? '',
    ],
  })),
});

const quarantineTable = ({ quarantined }: PoolDocument): Table => ({
  head: ['QUARANTINED', 'NAME', 'UNTIL', 'TIMES', 'WHY'],
  rows: quarantined.map(({ host, name, until, over, count, reason }) => ({
    key: `quarantined ${host}`,
    cells: [host, name ?? '', over ? 'over' : until, String(count), reason],
  })),
});

const pageOf = (document: PoolDocument): Page => ({
  tables: [groupTable(document), quarantineTable(document)],
  lines: [conclusion(document), ...document.notes],
});

const conclusion = ({ total, free, waiting }: PoolDocument): string => {
  if (total === 0)
    return 'No Mac is known. The provider lists those at Scaleway whose name begins with the prefix of a pool: order one and name it so, or look whether the provider runs.';
  const without = waiting === 0 ? '' : ` ${waiting === 1 ? '1 machine waits' : `${waiting} machines wait`} for one.`;
  return `${total === 1 ? '1 Mac' : `${total} Macs`}, ${free} free to claim.${without}`;
};

export const poolView: View<PoolDocument> = { sight: worldSight, documentOf, pageOf, exitCode: () => 0 };
