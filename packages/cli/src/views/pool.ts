import { hostStateMeanings } from '@tartan/api';
import { timestamp } from '@tartan/kube/clock';
import { z } from 'zod';
import { isWaiting } from '../cluster/macs.ts';
import { type ClusterState, type Host, readClusterState } from '../cluster/state.ts';
import { ageCell } from '../output/age.ts';
import type { Table } from '../output/table.ts';
import { counted } from '../output/terminal-text.ts';
import { documentSchema, fill, nullable, type Page, type View } from '../output/view.ts';

const groupSchema = z.object({
  state: nullable(z.string(), 'null: the manager has not observed them yet.'),
  type: nullable(z.string()),
  os: nullable(z.string(), 'Release family of macOS.'),
  zone: z.string(),
  count: z.number(),
  oldest: nullable(z.string(), 'When the first of them entered that state.'),
  oldestHost: nullable(z.string(), 'The MacHost of the first.'),
});

const quarantinedSchema = z.object({
  host: z.string(),
  name: nullable(z.string(), 'At Scaleway.'),
  until: z.string().describe('End of the quarantine.'),
  over: z.boolean().describe('The quarantine is over; the next reconcile frees the Mac.'),
  count: z.number().describe('Number of failures.'),
  reason: z.string(),
});

export const poolDocument = documentSchema('tartan.pool/v1', {
  total: z.number(),
  free: z.number().describe('In the pool, and ready at Scaleway.'),
  waiting: z.number().describe('Machines without a Mac.'),
  groups: z.array(groupSchema).describe('By state, type, macOS and zone.'),
  quarantined: z.array(quarantinedSchema).describe('Including Macs being released into quarantine.'),
});

export type PoolDocument = z.infer<typeof poolDocument>;

const states: readonly string[] = Object.keys(hostStateMeanings);

const documentOf = ({ now, hosts, machines, notes }: ClusterState): PoolDocument => {
  const groups = Map.groupBy(hosts, ({ spec, status }) =>
    JSON.stringify([status?.state, status?.type, status?.osFamily, spec.zone]),
  );
  return {
    schema: 'tartan.pool/v1',
    at: timestamp(now),
    total: hosts.length,
    free: hosts.filter(({ status }) => status?.state === 'pool' && status.serverStatus === 'ready').length,
    waiting: machines.filter(isWaiting).length,
    groups: [...groups.values()].map(groupOf).sort(inOrder),
    quarantined: hosts.flatMap((host) => quarantineOf(host, now)).sort((a, b) => (a.until < b.until ? -1 : 1)),
    notes: [...notes],
  };
};

type Group = PoolDocument['groups'][number];

const groupOf = (hosts: readonly Host[]): Group => {
  const [first] = hosts;
  const sinceOf = ({ status }: Host): number => Date.parse(status?.since ?? '');
  const [oldest] = hosts.filter((host) => !Number.isNaN(sinceOf(host))).sort((a, b) => sinceOf(a) - sinceOf(b));
  return fill(groupSchema, {
    state: first?.status?.state,
    type: first?.status?.type,
    os: first?.status?.osFamily,
    zone: first?.spec.zone ?? '',
    count: hosts.length,
    oldest: oldest?.status?.since,
    oldestHost: oldest?.metadata.name,
  });
};

const placeOf = ({ state }: Group): number => (state === null ? states.length : states.indexOf(state));
const labelOf = ({ type, os, zone }: Group): string => `${type} ${os} ${zone}`;
const inOrder = (a: Group, b: Group): number => placeOf(a) - placeOf(b) || (labelOf(a) < labelOf(b) ? -1 : 1);

/** The status keeps an ended quarantine: the number of failures counts for the next one. */
const quarantineOf = ({ metadata, status }: Host, now: number): PoolDocument['quarantined'] => {
  const { quarantine, state } = status ?? {};
  if (quarantine === undefined) return [];
  // An invalid time never ends, as in the decision about claims.
  const over = Date.parse(quarantine.until) <= now;
  if (over && state !== 'quarantined') return [];
  return [fill(quarantinedSchema, { ...quarantine, host: metadata.name, name: status?.name, over })];
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
      ageCell(group.oldest, at),
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
    return 'There are no Macs. The provider lists servers at Scaleway whose names begin with the prefix of a pool: order one with such a name, or check that the provider runs.';
  const without = waiting === 0 ? '' : `, ${counted(waiting, 'machine')} without a Mac`;
  return `${counted(total, 'Mac')}, ${free} free to claim${without}.`;
};

export const poolView: View<PoolDocument> = { read: readClusterState, documentOf, pageOf, exitCode: () => 0 };
