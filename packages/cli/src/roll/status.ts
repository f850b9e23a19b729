import { isRolloutPaused } from '@tartan/api';
import { getCondition } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import { z } from 'zod';
import { byKey } from '../cluster/macs.ts';
import { type ClusterState, type Fleet, readClusterState } from '../cluster/state.ts';
import { type Cell, type Table, withNamespaces } from '../output/table.ts';
import { documentSchema, fill, nullable, type Page, type View } from '../output/view.ts';

const turnSchema = z.object({
  machine: z.string(),
  canary: z.boolean().describe('The machine is updated first, alone.'),
  rollBack: z.boolean().describe('The machine gets its previous configuration back.'),
  since: z.string(),
});

const stopSchema = z.object({ reason: z.string(), machine: z.string(), message: z.string(), at: z.string() });

const rollSchema = z.object({
  namespace: z.string(),
  fleet: z.string(),
  paused: z.boolean(),
  pausedByRelease: z
    .boolean()
    .describe('Paused by the values of the chart; `tartan roll resume` does not change that.'),
  state: nullable(z.string(), 'Reason of the condition Rolling; null: the manager has not observed the fleet yet.'),
  message: nullable(z.string(), 'Message of that condition: the progress and the remaining machines.'),
  revision: nullable(z.string(), 'Hash of the desired configuration that all Macs of the fleet share.'),
  desired: nullable(z.number()),
  existing: nullable(z.number()),
  ready: nullable(z.number()),
  updated: nullable(z.number(), 'Machines with the desired configuration.'),
  maxUnavailable: z.number(),
  turns: z.array(turnSchema).describe('Machines that may be updated now.'),
  stopped: nullable(stopSchema, 'Why the rollout has stopped.'),
  seen: z.boolean().describe('The manager has observed the current spec.'),
});

export const rollDocument = documentSchema('tartan.roll/v1', { fleets: z.array(rollSchema) });

export type RollDocument = z.infer<typeof rollDocument>;

type Roll = RollDocument['fleets'][number];

/** The progress of rollouts, of all fleets or of one. */
export const rollView = (name: string | undefined): View<RollDocument> => ({
  read: readClusterState,
  documentOf: ({ now, fleets, notes }: ClusterState) => ({
    schema: 'tartan.roll/v1',
    at: timestamp(now),
    fleets: fleets
      .filter(({ metadata }) => name === undefined || metadata.name === name)
      .sort(byKey)
      .map(rollOf),
    notes: [...notes],
  }),
  pageOf: (document) => pageOf(document, name),
  // For a script, a missing fleet must not look like a finished rollout.
  exitCode: ({ fleets }) =>
    fleets.some(({ stopped }) => stopped !== null) || (name !== undefined && fleets.length === 0) ? 1 : 0,
});

const rollOf = ({ metadata, spec, status }: Fleet): Roll => {
  const rolling = getCondition(status?.conditions, 'Rolling');
  return fill(rollSchema, {
    ...status,
    namespace: metadata.namespace ?? '',
    fleet: metadata.name,
    paused: isRolloutPaused(spec),
    pausedByRelease: spec.pausedByRelease === true,
    state: rolling?.reason,
    message: rolling?.message,
    maxUnavailable: spec.maxUnavailable,
    turns: (status?.turns ?? []).map((turn) => ({
      ...turn,
      rollBack: turn.rollBack === true,
      since: turn.grantedAt,
    })),
    stopped: status?.stop,
    seen: (status?.observedGeneration ?? -1) >= (metadata.generation ?? 0),
  });
};

const stateCell = ({ state, paused, stopped }: Roll): Cell => {
  if (stopped !== null) return { text: 'stopped', tone: 'bad' };
  const text = paused && state !== 'Paused' ? `${state ?? 'unseen'}, paused` : (state ?? 'unseen');
  return { text, tone: paused ? 'warn' : state === 'UpToDate' ? 'good' : undefined };
};

const fraction = (part: number | null, whole: number | null): string => `${part ?? '?'}/${whole ?? '?'}`;

const head = ['FLEET', 'STATE', 'UPDATED', 'READY', 'DESIRED', 'AT ONCE', 'TURN', 'REVISION'];

const tableOf = ({ fleets }: RollDocument): Table => {
  const rows = fleets.map((roll) => ({
    key: `${roll.namespace}/${roll.fleet}`,
    cells: [
      roll.fleet,
      stateCell(roll),
      fraction(roll.updated, roll.existing),
      fraction(roll.ready, roll.existing),
      roll.desired === null || roll.desired === 0 ? '' : String(roll.desired),
      String(roll.maxUnavailable),
      roll.turns.map(turnText).join(', '),
      (roll.revision ?? '').slice(0, 12),
    ],
  }));
  return withNamespaces(
    { head, rows },
    fleets.map(({ namespace }) => namespace),
  );
};

const turnText = ({ machine, canary, rollBack }: Roll['turns'][number]): string =>
  `${machine}${rollBack ? ' (rolls back)' : canary ? ' (canary)' : ''}`;

const pageOf = (document: RollDocument, name: string | undefined): Page => {
  const { fleets, notes } = document;
  if (fleets.length === 0) {
    const none =
      name === undefined
        ? 'There is no MacFleet. The provider creates one for the first machine of a fleet.'
        : `There is no MacFleet ${name}. tartan roll status lists all.`;
    return { tables: [], lines: [none, ...notes] };
  }
  return { tables: [tableOf(document)], lines: [...fleets.flatMap(detailLines), ...notes] };
};

const detailLines = (roll: Roll): string[] => {
  const { fleet, stopped, message, state, paused, pausedByRelease, seen } = roll;
  const lines: string[] = [];
  if (stopped !== null)
    lines.push(
      `The rollout of ${fleet} stopped at ${stopped.at}: ${stopped.reason} on ${stopped.machine}: ${stopped.message} Fix the cause and roll out another revision, or run tartan explain ${stopped.machine}.`,
    );
  else if (state !== null && state !== 'UpToDate') lines.push(`${fleet}: ${message ?? ''}`);
  if (pausedByRelease)
    lines.push(
      `${fleet} is paused by the values of its chart release. To resume, set rollout.paused of the fleet to false in the values.`,
    );
  else if (paused)
    lines.push(`${fleet} is paused. Machines already updating finish. To resume: tartan roll resume ${fleet}`);
  if (!seen) lines.push(`${fleet}: the manager has not observed the latest spec yet.`);
  return lines;
};
