import { getCondition, keyOf } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { isStranded, ownerOf, type ReclaimPolicy, strandedFacts, strandedVerdict } from '@tartan/provider/decisions';
import { z } from 'zod';
import { pausesOf } from '../cluster/macs.ts';
import { type ClusterState, clusterStateSource, type Host } from '../cluster/state.ts';
import { ageSince } from '../output/age.ts';
import type { Cell, Table } from '../output/table.ts';
import { documentSchema, nullable, type Page, type View } from '../output/view.ts';

const orphanSchema = z.object({
  host: z.string().describe('The MacHost.'),
  name: nullable(z.string(), 'At Scaleway.'),
  zone: z.string(),
  type: nullable(z.string()),
  os: nullable(z.string(), 'Release family of macOS.'),
  since: nullable(z.string(), 'Since when nobody knows it.'),
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

/**
 * Macs that cost money and do nothing. What the manager was told is not seen from here: without a policy its own verdict is shown, which
 * it writes down; with one, what the very same function says.
 */
export const orphansView = (policy: ReclaimPolicy | undefined): View<OrphansDocument> => ({
  source: clusterStateSource,
  documentOf: (world) => ({
    schema: 'tartan.orphans/v1',
    at: timestamp(world.now),
    judgedBy: policy === undefined ? 'manager' : 'flags',
    orphans: world.hosts
      .filter(isStranded)
      .sort((a, b) => (sinceOf(a) < sinceOf(b) ? -1 : 1))
      .map((host) => orphanOf(host, world, policy)),
    notes: [...world.notes],
  }),
  pageOf,
  exitCode: ({ orphans }) => (orphans.length === 0 ? 0 : 1),
});

const sinceOf = ({ metadata, status }: Host): string => `${status?.since ?? '9'} ${metadata.name}`;

const orphanOf = (host: Host, world: ClusterState, policy: ReclaimPolicy | undefined): Orphan => {
  const { metadata, spec, status } = host;
  // The sweep looks for it too, right before it wipes anything.
  const owner = ownerOf({ host, serverName: status?.name ?? '' }, world.machines);
  const judged = verdictOf(host, world, policy);
  const neededBy = owner ? keyOf(owner.metadata) : null;
  return {
    host: metadata.name,
    name: status?.name ?? null,
    zone: spec.zone,
    type: status?.type ?? null,
    os: status?.osFamily ?? null,
    since: status?.since ?? null,
    neededBy,
    ...(neededBy === null
      ? judged
      : {
          ...judged,
          verdict: 'needed' as const,
          message: `The machine ${neededBy} may need it (tartan explain ${owner?.metadata.name ?? ''}), so the sweep leaves it alone.`,
        }),
  };
};

const verdictOf = (
  host: Host,
  { now }: ClusterState,
  policy: ReclaimPolicy | undefined,
): Pick<Orphan, 'verdict' | 'reason' | 'message'> => {
  const said = getCondition(host.status?.conditions, 'Stranded');
  if (policy === undefined && said?.status === 'True')
    return { verdict: said.reason === 'Reclaiming' ? 'reclaim' : 'leave', reason: said.reason, message: said.message };
  const { kind, reason, message } = strandedVerdict(strandedFacts(host, pausesOf(host)), policy ?? reportOnly, now);
  return { verdict: kind, reason, message };
};

/** What a manager does that was told nothing. */
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
      { text: ageSince(orphan.since, Date.parse(at)), passing: true },
      verdictCell(orphan),
      orphan.reason,
    ],
  })),
});

const pageOf = (document: OrphansDocument): Page => {
  const { orphans, notes } = document;
  if (orphans.length === 0)
    return { tables: [], lines: ['No Mac is stranded: each is in a pool, or a machine has it.', ...notes] };
  // Many are stranded for the same reason, and each would say so in a paragraph.
  const reasons = [...Map.groupBy(orphans, ({ reason, verdict }) => `${verdict} ${reason}`).values()];
  return {
    tables: [tableOf(document)],
    lines: [
      ...reasons.map(
        ([first, ...more]) => `${first?.message ?? ''}${more.length > 0 ? ` (So ${more.length} more.)` : ''}`,
      ),
      ...notes,
    ],
  };
};
