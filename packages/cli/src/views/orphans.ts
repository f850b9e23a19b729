import { getCondition, keyOf } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { isStranded, ownerOf, type ReclaimPolicy, strandedFacts, strandedVerdict } from '@tartan/provider/decisions';
import { z } from 'zod';
import { pausesOf } from '../cluster/macs.ts';
import { type ClusterState, type Host, readClusterState } from '../cluster/state.ts';
import { ageCell } from '../output/age.ts';
import type { Cell, Table } from '../output/table.ts';
import { documentSchema, fill, nullable, type Page, type View } from '../output/view.ts';

const orphanSchema = z.object({
  host: z.string().describe('The MacHost.'),
  name: nullable(z.string(), 'At Scaleway.'),
  zone: z.string(),
  type: nullable(z.string()),
  os: nullable(z.string(), 'Release family of macOS.'),
  since: nullable(z.string(), 'When it became stranded.'),
  verdict: z
    .enum(['leave', 'reclaim', 'needed'])
    .describe('needed: a machine may still need the Mac, so the sweep never wipes it.'),
  reason: z.string().describe('Of the condition Stranded.'),
  message: z.string().describe('What the sweep does, and why.'),
  neededBy: nullable(z.string(), 'namespace/name of that machine.'),
});

export const orphansDocument = documentSchema('tartan.orphans/v1', {
  judgedBy: z
    .enum(['manager', 'flags'])
    .describe('manager: the decisions in the status. flags: the decisions with the given prefixes.'),
  orphans: z.array(orphanSchema).describe('The oldest first.'),
});

export type OrphansDocument = z.infer<typeof orphansDocument>;

type Orphan = OrphansDocument['orphans'][number];

/** Stranded Macs. Without a policy: the verdicts that the manager has reported. With one: the verdicts of its decision function. */
export const orphansView = (policy: ReclaimPolicy | undefined): View<OrphansDocument> => ({
  read: readClusterState,
  documentOf: (state) => ({
    schema: 'tartan.orphans/v1',
    at: timestamp(state.now),
    judgedBy: policy === undefined ? 'manager' : 'flags',
    orphans: state.hosts
      .filter(isStranded)
      .sort((a, b) => (sinceOf(a) < sinceOf(b) ? -1 : 1))
      .map((host) => orphanOf(host, state, policy)),
    notes: [...state.notes],
  }),
  pageOf,
  exitCode: ({ orphans }) => (orphans.length === 0 ? 0 : 1),
});

const sinceOf = ({ metadata, status }: Host): string => `${status?.since ?? '9'} ${metadata.name}`;

const orphanOf = (host: Host, state: ClusterState, policy: ReclaimPolicy | undefined): Orphan => {
  const { metadata, spec, status } = host;
  // The sweep makes the same check before it wipes a Mac.
  const owner = ownerOf({ host, serverName: status?.name ?? '' }, state.machines);
  const neededBy = owner && keyOf(owner.metadata);
  return fill(orphanSchema, {
    host: metadata.name,
    name: status?.name,
    zone: spec.zone,
    type: status?.type,
    os: status?.osFamily,
    since: status?.since,
    neededBy,
    ...verdictOf(host, state, policy),
    ...(owner && {
      verdict: 'needed',
      message: `The machine ${neededBy} may need it (tartan explain ${owner.metadata.name}), so the sweep skips it.`,
    }),
  });
};

const verdictOf = (
  host: Host,
  { now }: ClusterState,
  policy: ReclaimPolicy | undefined,
): Pick<Orphan, 'verdict' | 'reason' | 'message'> => {
  const reported = getCondition(host.status?.conditions, 'Stranded');
  if (policy === undefined && reported?.status === 'True') {
    const { reason, message } = reported;
    return { verdict: reason === 'Reclaiming' ? 'reclaim' : 'leave', reason, message };
  }
  const { kind, reason, message } = strandedVerdict(strandedFacts(host, pausesOf(host)), policy ?? reportOnly, now);
  return { verdict: kind, reason, message };
};

/** The default policy of a manager. */
const reportOnly: ReclaimPolicy = { claimNamePrefix: undefined, defaultPoolPrefix: undefined };

const verdictCell = ({ verdict }: Orphan): Cell => ({
  text: verdict,
  tone: verdict === 'reclaim' ? 'good' : verdict === 'leave' ? 'bad' : 'warn',
});

const tableOf = ({ orphans, at }: OrphansDocument): Table => ({
  head: ['HOST', 'NAME', 'TYPE', 'ZONE', 'STRANDED', 'VERDICT', 'REASON'],
  rows: orphans.map((orphan) => ({
    key: orphan.host,
    cells: [
      orphan.host,
      orphan.name ?? '',
      orphan.type ?? '',
      orphan.zone,
      ageCell(orphan.since, at),
      verdictCell(orphan),
      orphan.reason,
    ],
  })),
});

const pageOf = (document: OrphansDocument): Page => {
  const { orphans, notes } = document;
  if (orphans.length === 0)
    return { tables: [], lines: ['No Mac is stranded: each is in a pool, or held by a machine.', ...notes] };
  // One paragraph per reason.
  const reasons = [...Map.groupBy(orphans, ({ reason, verdict }) => `${verdict} ${reason}`).values()];
  return {
    tables: [tableOf(document)],
    lines: [
      ...reasons.map(
        ([first, ...more]) => `${first?.message ?? ''}${more.length > 0 ? ` (${more.length} more.)` : ''}`,
      ),
      ...notes,
    ],
  };
};
