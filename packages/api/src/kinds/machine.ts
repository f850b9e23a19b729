import { z } from 'zod';
import { kindNames } from '../names.ts';
import { machinePhases } from '../reasons/states.ts';
import {
  addresses,
  conditions,
  count,
  flag,
  immutable,
  observedGeneration,
  optional,
  requiredText,
  text,
  time,
  withRules,
} from '../schema/fields.ts';
import { ageColumn, column, conditionPath, defineKind, type ObjectOf } from '../schema/kind.ts';

/**
 * Cluster API clones this from a template at any time. So no field is ever required, and nothing that an older template may hold is
 * rejected: a rejected clone leaves a fleet short of machines, and nothing repairs it (INC-314). A condition reports what cannot work; the
 * rules of the template below tell its author at once.
 */

const ghActionsRunner = z.object({
  ghOrg: text('The GitHub organisation it registers with.').default('tuist'),
  ghRunnerLabels: text(
    'Its labels, with commas between them. They must cover `runs-on` of the workflows.',
    1024,
  ).default('self-hosted,macos,bare-metal,vm-image-builder'),
  ghAppSecretName: optional(
    text('A Secret of this namespace with `app-id`, `installation-id` and `private-key` of a GitHub App.'),
  ),
});

const machineSpecFields = {
  type: text('The type of Mac, as Scaleway calls it.', 63).default('M2-L'),
  zone: text('The zone of Scaleway.', 63).default('fr-par-1'),
  os: text('The release family of macOS, such as Tahoe. Not a version: images of versions are retired.', 63).default(
    'Tahoe',
  ),
  fleetName: optional(
    text('The fleet: who shares an SSH key and rolls together. Also the label `tuist.dev/fleet` of the Node.', 63),
  ),
  kubeletVersion: optional(
    text(
      'The version that the Node reports. Must equal `version` of the Machine, or Cluster API sees it roll out for ever.',
      63,
    ),
  ),
  hostCPU: optional(count('CPUs that the Node offers. 0: the default of the manager.')),
  hostMemoryMB: optional(
    count(
      'Memory that the Node offers. Leave 2 GB to macOS, or virtual machines do not start. 0: the default of the manager.',
    ),
  ),
  maxPods: optional(count('Pods that the Node takes at a time. 0: the default of the manager.')),
  adoptPoolPrefix: optional(
    text('Servers whose name begins with this are the pool. Empty: --default-adopt-pool-prefix of the manager.', 63),
  ),
  ghActionsRunner: optional(
    ghActionsRunner.describe(
      'Makes the Mac a builder: a GitHub Actions runner runs on the host itself, beside an idle agent.',
    ),
  ),
};

const machineSpec = z
  .object({
    providerID: optional(
      withRules(
        requiredText('Which server it is: `scw-applesilicon://<zone>/<server id>`. Set by the controller.', 512),
        [immutable('a machine keeps its server: delete the machine to get another one')],
      ),
    ),
    ...machineSpecFields,
  })
  .describe('The requested Mac and its configuration.');

/** The tasks that the manager runs on a Mac, or for it. */
export const attemptTasks = ['Credentials', 'Bootstrap', 'Register', 'Update', 'RollBack'] as const;

/** How the last task on a Mac ended. Those about the Mac or a Secret are also reasons of the condition Bootstrapped. */
export const attemptOutcomes = [
  'Running',
  'Aborted',
  'Succeeded',
  'RebootPending',
  'WaitingForIdle',
  'Incomplete',
  'Rejected',
  'HostUnreachable',
  'HostKeyMismatch',
  'HostNotWiped',
  'HostLocked',
  'InvalidSpec',
  'TailscaleAuthKeyUnavailable',
  'NodeIdentityUnavailable',
  'GHRunnerRegistrationTokenUnavailable',
  'CredentialsRefreshFailed',
  'CredentialsPersistFailed',
  'MissingSudoPassword',
] as const;

/**
 * Counters and verdicts are written before the action that they guard, and are safe to lose.
 * `failureReason` and `failureMessage` are omitted on purpose: core copies them to the Machine for ever, while no failure of ours is
 * final.
 */
const machineStatus = z
  .object({
    ready: flag('The Node is Ready on a Mac that runs. For managers of contract v1beta1.'),
    initialization: z
      .object({
        provisioned: flag('The Mac was claimed and provisioned once. Stays true.'),
      })
      .exactPartial()
      .describe('What Cluster API waits for, by contract v1beta2.'),
    phase: z.enum(machinePhases).describe('Where it is in its life, in one word for people.'),
    serverID: text('The server it has reserved: the name of a MacHost. Reserved here before it is claimed there.'),
    serverVersion: text(
      'The resource version of that MacHost when it was reserved: it is claimed as it was then, or not at all.',
      63,
    ),
    waitingForHostSince: time(
      'Since when no Mac that fits has been free. Left out: it has one, or waits for something else.',
    ),
    addresses: addresses(),
    conditions: conditions(),
    observedGeneration: observedGeneration(),

    lastAttempt: z
      .object({
        task: z.enum(attemptTasks).describe('What was tried.'),
        outcome: z.enum(attemptOutcomes).describe('How it ended, or `Running`.'),
        message: text('What the Mac, Scaleway or GitHub answered.', 1024),
        at: time('When it ended. While it runs: when it began.'),
        count: count(
          'Failures in a row that count against the Mac (Credentials, Bootstrap) or against the update (Register, Update, RollBack).',
        ),
      })
      .describe('The last work on the Mac. The next one waits for a while after it.'),
    bootstrapRebootIssued: flag('The one reboot that may help it has been asked for.'),
    bootstrapAttempts: count('Deprecated: read `lastAttempt.count`. Managers before `lastAttempt` wrote it.'),
    lastBootstrapFailureTime: time('Deprecated: read `lastAttempt.at`. Managers before `lastAttempt` wrote it.'),
    hostKeyEpoch: count('The install of the MacHost whose SSH host key is pinned. A later install brings a new key.'),
    hostKey: text('The SSH host key of that install, so that a Secret that is lost costs no trust in the Mac.', 128),
    joinTokenID: text('The public half of the token with which the Mac may join now.', 63),
    joinTokenExpires: time('When that token ends by itself.'),
    certificateExpires: time('When the latest certificate ends that the Mac is known to have got.'),
    joinVersion: text('Which join credentials the Mac was given last. Says nothing about them.'),

    hostConfigHash: text('Summary of the steps that the Mac has, as its agent reports it.'),
    desiredHostConfigHash: text('Summary of the steps that it shall have.'),
    plannedBy: text('The --release-id of the manager that said so.', 63),
    leftOut: z
      .object({
        desired: requiredText('What the Mac should have got.'),
        actual: requiredText('What it has instead.'),
        message: text('What failed.', 1024),
        at: time('When.'),
      })
      .describe(
        'Steps that may fail did, and cost only themselves. Until they are tried again the Mac counts as up to date.',
      ),
    failedHostConfigHash: text(
      'The summary that the Mac refused. Tried again after a while, or when another is wanted.',
    ),
    lastUpdateFailureTime: time('When the Mac refused an update last.'),
    tartKubeletUpdateAttempts: count('Deprecated: read `lastAttempt.count`. Managers before `lastAttempt` wrote it.'),
  })
  .exactPartial()
  .describe('What is known of the machine.');

export const machine = defineKind({
  names: kindNames.machine,
  description:
    'A Mac mini at Scaleway that is, or will be, the Node of a Cluster API Machine. It is claimed from a pool of servers, provisioned over SSH, and wiped when it is released.',
  spec: machineSpec.prefault({}),
  status: machineStatus,
  rules: [
    {
      // The API server does not evaluate the field's own rule when the field is removed.
      rule: 'has(self.spec.providerID) || !has(oldSelf.spec.providerID) || !has(self.status) || !has(self.status.initialization) || !has(self.status.initialization.provisioned) || !self.status.initialization.provisioned',
      message: 'spec.providerID of a provisioned machine stays: its Node is bound by it. Delete the machine instead',
    },
  ],
  columns: [
    column('Phase', '.status.phase'),
    column('Ready', '.status.ready', { type: 'boolean' }),
    column('Fleet', '.spec.fleetName'),
    column('Server', '.status.serverID'),
    column('Reason', conditionPath('Ready', 'reason')),
    ageColumn,
    column('ProviderID', '.spec.providerID', { priority: 1 }),
    column('Config', '.status.hostConfigHash', { priority: 1 }),
    column('Message', conditionPath('Ready', 'message'), { priority: 1 }),
  ],
  categories: ['cluster-api'],
  contract: true,
});

export type ScalewayAppleSiliconMachine = ObjectOf<typeof machine>;
export type MachineSpec = ScalewayAppleSiliconMachine['spec'];
export type MachineStatus = NonNullable<ScalewayAppleSiliconMachine['status']>;
export type LastAttempt = NonNullable<MachineStatus['lastAttempt']>;

/** Written by users and charts, so mistakes are rejected here. Existing templates stay as they are. */
const templateSpecFields = {
  ...machineSpecFields,
  type: withRules(machineSpecFields.type, [
    { rule: "self != ''", message: 'type is a type of Mac at Scaleway such as M2-L; leave it out for that one' },
  ]),
  os: withRules(machineSpecFields.os, [
    {
      rule: "!self.matches('[0-9]')",
      message:
        'os is a release family such as Tahoe, not a version: Scaleway retires the images of versions, and no Mac would match any more',
    },
  ]),
  zone: withRules(machineSpecFields.zone, [
    { rule: "self.matches('^[a-z]+-[a-z]+-[0-9]+$')", message: 'zone is a zone of Scaleway such as fr-par-1' },
  ]),
};

const stringMap = (description: string) => z.record(z.string(), z.string()).describe(description);

const template = z.object({
  metadata: optional(
    z
      .object({
        labels: stringMap('Labels of the machines.'),
        annotations: stringMap('Annotations of the machines.'),
      })
      .exactPartial()
      .describe('Metadata of the machines cloned from this template.'),
  ),
  spec: z
    .object(templateSpecFields)
    .describe(machineSpec.description ?? '')
    .prefault({}),
});

export const machineTemplate = defineKind({
  names: kindNames.machineTemplate,
  description:
    'What the machines of a MachineDeployment are made from. It never changes: make another one under another name, and refer to that.',
  spec: withRules(
    z.object({ template: template.describe('What Cluster API copies into each machine.') }).describe('The template.'),
    [
      // Core rolls out only when the name of the template changes: an edit would reach some machines and not others.
      immutable(
        'templates do not change, since their machines would not follow: create one under another name and let the MachineDeployment refer to it',
      ),
    ],
  ),
  columns: [
    column('Fleet', '.spec.template.spec.fleetName'),
    column('Type', '.spec.template.spec.type'),
    column('Zone', '.spec.template.spec.zone'),
    column('OS', '.spec.template.spec.os'),
    ageColumn,
  ],
  categories: ['cluster-api'],
  contract: true,
});

export type ScalewayAppleSiliconMachineTemplate = ObjectOf<typeof machineTemplate>;
