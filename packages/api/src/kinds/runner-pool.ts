import { z } from 'zod';
import { kindNames } from '../names.ts';
import {
  conditions,
  count,
  observedGeneration,
  optional,
  requiredText,
  text,
  time,
  withRules,
} from '../schema/fields.ts';
import { ageColumn, column, conditionPath, defineKind, type ObjectOf } from '../schema/kind.ts';

const github = withRules(
  z.object({
    organization: optional(requiredText('Runners of this organisation.')),
    repository: optional(requiredText('Runners of this repository, as owner/name.')),
    runnerGroup: optional(requiredText('The runner group they join. Left out: the default group.')),
    appSecretName: requiredText(
      'A Secret of this namespace with `app-id`, `installation-id` and `private-key` of a GitHub App.',
    ),
  }),
  [
    {
      rule: 'has(self.organization) != has(self.repository)',
      message: 'runners belong to an organization or to a repository: set exactly one of them',
    },
    {
      rule: "!has(self.repository) || self.repository.matches('^[^/]+/[^/]+$')",
      message: 'repository is written as owner/name',
    },
  ],
);

const rollout = z.object({
  maxConcurrentPercent: z
    .int()
    .min(1)
    .max(100)
    .meta({
      description: 'How much of the pool may be without a warm runner while it rolls; at least one Pod.',
      format: 'int32',
    })
    .default(5),
});

const spec = z.object({
  // 0 is valid: no replicas, or no idle timeout.
  replicas: count('How many runner Pods there shall be.').default(0),
  image: requiredText('The image of the virtual machine. Pods with another one are replaced, idle ones first.', 1024),
  fleetSelector: requiredText('The fleet on whose Macs they run: the value of the label `tuist.dev/fleet`.', 63),
  runnerLabels: z
    .array(requiredText('A label.', 256))
    .max(64)
    .readonly()
    .meta({ description: 'What `runs-on` of a workflow can ask for.', 'x-kubernetes-list-type': 'atomic' })
    .default(['self-hosted', 'macOS', 'ARM64']),
  podCPUMilli: count('CPU of a Pod in thousandths: requests and limits.', 1).default(8000),
  podMemoryMB: count('Memory of a Pod: requests and limits.', 1).default(14_336),
  idleTimeoutSeconds: count('A runner that has had no job for so long ends itself. 0: never.').default(0),
  rollout: rollout.describe('How a new image is rolled out.').prefault({}),
  github: optional(github.describe('Where the runners register. Without it there are no runners.')),
});

const finished = z.object({
  name: requiredText('The Pod.'),
  uid: requiredText('Its UID.', 128),
  node: optional(text('The Mac it ran on.')),
  hadJob: optional(z.boolean().meta({ description: 'Whether a job started. Left out: unknown.' })),
  exitCode: optional(z.int().meta({ description: 'What the runner ended with.', format: 'int32' })),
  reason: optional(text('Why the container ended.')),
  startedAt: optional(time('When its virtual machine ran.')),
  finishedAt: optional(time('When it ended.')),
});

const queue = z.object({
  jobs: count('How many wait.'),
  oldestSince: optional(time('Since when the oldest waits.')),
  observedAt: time('When GitHub was asked.'),
});

const status = z.object({
  observedGeneration: observedGeneration().default(-1),
  replicas: optional(count('Pods that live.')),
  selector: optional(text('The label selector of its Pods, for `kubectl scale` and autoscalers.', 1024)),
  warm: optional(count('Pods that wait for a job.')),
  busy: optional(count('Pods that have a job, or may have one.')),
  retiring: optional(count('Pods that get no more jobs, and are about to end.')),
  stale: optional(count('Pods with another image than is wanted.')),
  stuck: optional(count('Pods that never started, or do not go away.')),
  oldestStuckSince: optional(time('Since when the oldest of those is stuck.')),
  reaped: optional(
    z.int().min(0).meta({ description: 'Finished Pods that were taken away, in all.', format: 'int64' }),
  ),
  finished: optional(
    z.array(finished).max(50).readonly().meta({
      description: 'The last Pods that ended, the latest first. Written before they are taken away.',
      'x-kubernetes-list-type': 'atomic',
    }),
  ),
  queue: optional(queue.describe('Queued jobs at GitHub for these runners. Left out: unknown.')),
  runner: optional(
    z
      .object({
        version: text('The oldest release that Pods report.', 32),
        newest: text('The newest release, as GitHub tells.', 32),
        newestSince: time('When that was first seen.'),
        outdatedSince: time('When a release that is newer than `version` was first seen.'),
      })
      .exactPartial()
      .describe('The release of the GitHub Actions runner in the guests.'),
  ),
  observedImage: optional(text('The image that was rolled out last.', 1024)),
  conditions: optional(conditions()),
});

export const runnerPool = defineKind({
  names: kindNames.runnerPool,
  description:
    'Warm GitHub Actions runners: as many Pods as wanted, each a virtual machine for one job. A Pod that has a job is never taken away.',
  spec: spec.describe('Which runners are wanted.'),
  status: status.describe('How the pool is.').prefault({}),
  rules: [
    {
      // GitHub accepts 64 characters, and runners append `-runner-` and eight more.
      rule: 'self.metadata.name.size() <= 47',
      message: 'the name of a pool has at most 47 characters: runners at GitHub begin with it',
    },
  ],
  columns: [
    column('Replicas', '.spec.replicas', { type: 'integer' }),
    column('Warm', '.status.warm', { type: 'integer' }),
    column('Busy', '.status.busy', { type: 'integer' }),
    column('Stale', '.status.stale', { type: 'integer' }),
    column('Stuck', '.status.stuck', { type: 'integer' }),
    column('Fleet', '.spec.fleetSelector'),
    column('State', conditionPath('Ready', 'reason')),
    column('Image', '.spec.image', { priority: 1 }),
    column('Message', conditionPath('Ready', 'message'), { priority: 1 }),
    ageColumn,
  ],
  scale: {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  },
  categories: ['tuist'],
  contract: false,
});

export type RunnerPool = ObjectOf<typeof runnerPool>;
export type RunnerPoolStatus = NonNullable<RunnerPool['status']>;
