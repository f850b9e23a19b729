import { z } from 'zod';
import { kindNames } from '../names.ts';
import { conditions, count, flag, requiredText, observedGeneration, optional, text, time } from '../schema/fields.ts';
import { ageColumn, column, defineKind, conditionPath, type ObjectOf } from '../schema/kind.ts';

const spec = z.object({
  replicas: optional(
    count(
      'How many Macs the release wants. A change is written to the MachineDeployment of the same name, once: kubectl scale and autoscalers may set another number afterwards. Left out: no number is written.',
    ),
  ),
  maxUnavailable: count(
    'How many Macs may be unavailable during a rollout: those that are updated and those that are not Ready for another reason. Macs of paused machines do not count. The first Mac of a rollout is updated alone.',
    1,
  ).default(1),
  paused: flag(
    'Pauses the rollout. Machines that have a turn finish. For people and `tartan roll pause`; the chart does not set it.',
  ).default(false),
  pausedByRelease: optional(
    flag('Pauses the rollout as `paused` does, for the release: the value `rollout.paused` of the chart.'),
  ),
  gateDeadlineSeconds: count('A Mac that was rolled must be Ready within this time, or the roll stops.', 1).default(
    900,
  ),
  waitForMacs: flag(
    'Whether Ready waits for every Mac. With false, Macs that are missing or not Ready do not keep it from being True; a roll that is under way, paused or stopped still does.',
  ).default(true),
  releaseID: optional(
    requiredText(
      'Which manager shall speak for the fleet: the --release-id of one. Until that one has looked at every machine, Ready is False. Left out: any may.',
      63,
    ),
  ),
  machinesRevision: optional(
    requiredText(
      'As what its MachineDeployment was written: the annotation `tuist.dev/machines-revision` of it. Until one with that is seen, Ready is False. Left out: any is taken.',
      63,
    ),
  ),
});

/** The name identifies a machine while it exists; the UID tells it from a later machine of the same name. */
const turn = z.object({
  machine: requiredText('Who may be rolled.'),
  uid: requiredText('Its UID.', 63),
  hash: requiredText('To what: the summary of steps that it shall have.'),
  revision: optional(text('The revision of the fleet when it was given.')),
  canary: flag('It goes first, alone.'),
  grantedAt: time('Since when; from when its virtual machines were gone, if it had to wait for that.'),
  waitsForIdle: optional(flag('It waits until its virtual machines are gone.')),
  rollBack: optional(flag('It was not Ready in time: what it had before is to be put back.')),
});

/** Separate from the condition Stalled, which is derived from it: conditions are for users. */
const stop = z.object({
  reason: z.enum(['PushRejected', 'GateDeadlineExceeded']).describe('What stopped it: the reason of Stalled.'),
  machine: requiredText('Which machine did.'),
  message: text('What happened to it, for people.', 4096),
  at: time('When. After a while it is tried again.'),
});

const passedOver = z.object({
  machine: requiredText('Who had a turn and could not use it.'),
  uid: requiredText('Its UID.', 63),
  at: time('When its turn ended. It gets another one after a while.'),
});

const status = z.object({
  // kstatus, and so `helm --wait`, takes an object without conditions for ready. It is not ready before the controller has seen it.
  observedGeneration: observedGeneration().default(-1),
  desired: optional(count('Macs that its MachineDeployments ask for.')),
  existing: optional(count('Machines that there are.')),
  ready: optional(count('Machines that are Ready.')),
  updated: optional(count('Machines that have what they shall have.')),
  revision: optional(text('What all Macs of the fleet shall have in common, as a hash.')),
  stalledRevision: optional(text('The revision at which the roll stopped. Another one starts it again.')),
  stop: optional(stop.describe('Why it stopped.')),
  provenRevision: optional(text('The revision that a first machine has, and is Ready with. The others follow.')),
  rollStartedAt: optional(time('When the first machine of this roll got its turn. Gone when the roll has finished.')),
  passedOver: optional(
    z
      .array(passedOver)
      .readonly()
      .meta({
        description:
          'Machines that did not answer, or went down, while they had a turn. The roll went on without them.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['machine'],
      }),
  ),
  turns: optional(
    z
      .array(turn)
      .readonly()
      .meta({
        description: 'Who may be rolled now. Given before anything is sent to a Mac.',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['machine'],
      }),
  ),
  turnOf: optional(text('The machines that have a turn, for people.', 4096)),
  conditions: optional(conditions()),
});

export const macFleet = defineKind({
  names: kindNames.macFleet,
  description:
    'The machines that share a fleet name: how they may be rolled, who has a turn, and how far the roll has come.',
  spec: spec.describe('How the fleet may be rolled.').prefault({}),
  status: status.describe('How the fleet is.').prefault({}),
  columns: [
    column('Desired', '.status.desired', { type: 'integer' }),
    column('Existing', '.status.existing', { type: 'integer' }),
    column('Ready', '.status.ready', { type: 'integer' }),
    column('Updated', '.status.updated', { type: 'integer' }),
    column('Turn', '.status.turnOf'),
    column('State', conditionPath('Ready', 'reason')),
    column('Paused', '.spec.paused', { type: 'boolean', priority: 1 }),
    column('Message', conditionPath('Ready', 'message'), { priority: 1 }),
    ageColumn,
  ],
  categories: ['cluster-api'],
  contract: false,
});

/** Whether the rollout is paused, by a user or by the release. */
export const isRolloutPaused = ({ paused, pausedByRelease }: MacFleet['spec']): boolean =>
  paused || pausedByRelease === true;

export type MacFleet = ObjectOf<typeof macFleet>;
export type MacFleetStatus = NonNullable<MacFleet['status']>;
