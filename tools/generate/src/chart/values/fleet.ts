import { labels, serverNames } from '@tartan/api';
import {
  choice,
  flag,
  type Group,
  group,
  nameOrEmpty,
  objects,
  prefixOrEmpty,
  countOrPercent,
  text,
  type Value,
  integer,
  stringMap,
} from './value.ts';

const machine = group(
  'Type of the Macs. A changed value creates a new template: Cluster API replaces every machine, and each Mac is wiped.',
  {
    type: text('Server type at Scaleway.', 'M2-L', { minLength: 1, maxLength: 63 }),
    zone: text('Zone at Scaleway.', 'fr-par-1', { pattern: '^[a-z]{2}-[a-z]{3}-[0-9]{1,2}$' }),
    os: text('macOS release name. Not a version: Scaleway retires images of versions.', 'Tahoe', {
      pattern: '^[^0-9]+$',
      maxLength: 63,
    }),
    hostCPU: integer('CPUs that a Mac offers to Pods. 0: the value of --tartkubelet-host-cpu.', 0),
    hostMemoryMB: integer(
      'Memory that a Mac offers to Pods, in MB. Leave 2 GB to macOS. 0: the value of --tartkubelet-host-memory-mb.',
      0,
    ),
    maxPods: integer('Maximum number of Pods on a Mac. macOS runs at most two VMs. 0: the default.', 0),
  },
);

const rollout = group('Rollout of a new agent or new host settings. Machines are not replaced.', {
  maxUnavailable: integer(
    'Maximum number of Macs that are unavailable during a rollout: those that are updated and those that are not Ready for another reason. The first one is updated alone.',
    1,
    {
      minimum: 1,
    },
  ),
  paused: flag(
    'Pauses the rollout. Hosts already updating finish. `tartan roll pause` pauses it independently of this value.',
    false,
  ),
  gateDeadlineSeconds: integer('An updated Mac must be Ready within this time; otherwise the rollout stops.', 900, {
    minimum: 1,
  }),
});

const machineRollout = group(
  'How Cluster API replaces machines after a change of their template. Each replaced Mac is wiped.',
  {
    type: choice('RollingUpdate; or OnDelete: only deleted machines are replaced.', 'RollingUpdate', [
      'RollingUpdate',
      'OnDelete',
    ]),
    maxSurge: countOrPercent(
      'Machines above `replicas` during the replacement. Each needs a spare Mac in the pool.',
      0,
    ),
    maxUnavailable: countOrPercent('Machines below `replicas` during the replacement.', 1),
  },
);

const healthCheck = group('When Cluster API replaces an unhealthy machine, which wipes its Mac (MachineHealthCheck).', {
  enabled: flag('Replace unhealthy machines.', true),
  nodeStartupTimeoutSeconds: integer(
    'A machine without a Node is unhealthy after this time. Must cover a reinstall (15 minutes), a failed bootstrap, a reboot and another Mac; at least 1800. 0: no limit.',
    7200,
  ),
  unhealthyTimeoutSeconds: integer(
    'A machine is unhealthy after its Node was not Ready or Unknown for this time. Must be longer than `rollout.gateDeadlineSeconds`; otherwise a rollout looks like a broken Mac.',
    3600,
    { minimum: 1 },
  ),
  maxUnhealthy: countOrPercent(
    'If more machines are unhealthy, none is replaced: that is an outage, and wiping Macs does not repair it.',
    '50%',
  ),
  maxInFlight: countOrPercent('Maximum number of machines that are replaced at a time.', 1),
});

const drain = group(
  'Pods that Cluster API waits for, instead of evicting them, before it deletes a machine (MachineDrainRule).',
  {
    enabled: flag('Wait for Pods.', true),
    pods: objects(
      'Selectors of a MachineDrainRule; a Pod must match one of them. Default: runners and Pods of Jobs.',
      [
        { selector: { matchLabels: { [labels.runner]: 'true' } } },
        { selector: { matchExpressions: [{ key: 'batch.kubernetes.io/job-name', operator: 'Exists' }] } },
      ],
      { minItems: 1, maxItems: 32 },
    ),
  },
);

interface FleetOptions {
  readonly replicas: number;
  readonly adoptPoolPrefix?: Value;
  readonly more?: Readonly<Record<string, Value>>;
}

/** The values of a fleet: common to all, except for the given particulars. */
export const fleet = (
  word: string,
  description: string,
  { replicas, adoptPoolPrefix = inheritedPool, more = {} }: FleetOptions,
): Group =>
  group(description, {
    enabled: flag('Create this fleet. Scale it to 0 and wait before you disable it.', false),
    name: text(
      `Name of the MachineDeployment, and prefix of the machine names. Empty: \`<fullname>-${word}-fleet\`.`,
      '',
      nameOrEmpty,
    ),
    replicas: {
      ...integer(
        'Number of Macs. The provider applies this value when it changes; `kubectl scale` and autoscalers may set another number in between. A lower number wipes Macs. null: never applied; a new fleet needs a number, or the sizes of an autoscaler in `annotations`.',
        replicas,
      ),
      schema: { type: ['integer', 'null'], minimum: 0 },
    },
    adoptPoolPrefix,
    kubeletVersion: text(
      'Kubernetes version that the Nodes report, such as v1.36.3. Empty: none, and Cluster API compares none.',
      '',
      { pattern: '^(v[0-9]+\\.[0-9]+\\.[0-9]+([-+].+)?)?$' },
    ),
    machine,
    rollout,
    waitForMacs: flag(
      '`helm --wait` waits until all Macs of the fleet are Ready. If false, missing or broken Macs do not fail the release; a stopped rollout still does.',
      true,
    ),
    machineRollout,
    healthCheck,
    drain,
    nodeDrainTimeoutSeconds: integer(
      'Maximum time to wait for Pods when a machine is deleted. After that, the Mac is wiped with the Pods on it. 0: no limit.',
      21_600,
    ),
    annotations: stringMap(
      'Annotations of the MachineDeployment, such as the sizes of an autoscaler (set both or none). With both, a new fleet starts at the minimum size.',
      {},
    ),
    ...more,
  });

const inheritedPool = text(
  'Name prefix of the servers at Scaleway that form the pool of this fleet. Empty: the prefix of macosFleet.',
  '',
  prefixOrEmpty,
);

export const defaultPool = text(
  'Name prefix of the servers at Scaleway that form the pool. Also the default of the other fleets and of machines without one.',
  serverNames.defaultPoolPrefix,
  { ...prefixOrEmpty, minLength: 2 },
);
