import { labels, serverNames } from '@tartan/api';
import {
  choice,
  flag,
  type Group,
  group,
  nameOrEmpty,
  objects,
  prefixOrEmpty,
  share,
  text,
  type Value,
  whole,
  words,
} from './value.ts';

const machine = group(
  'Which Macs they are. Another value makes a new template, and Cluster API replaces the machines.',
  {
    type: text('The type, as Scaleway calls it.', 'M2-L', { minLength: 1, maxLength: 63 }),
    zone: text('The zone of Scaleway.', 'fr-par-1', { pattern: '^[a-z]{2}-[a-z]{3}-[0-9]{1,2}$' }),
    os: text('The release family of macOS. Not a version: images of versions are retired.', 'Tahoe', {
      pattern: '^[^0-9]+$',
      maxLength: 63,
    }),
    hostCPU: whole('CPUs that a Mac offers to Pods. 0: what the provider is told by --tartkubelet-host-cpu.', 0),
    hostMemoryMB: whole(
      'Memory that a Mac offers to Pods, in MB. Leave 2 GB to macOS. 0: what the provider is told by --tartkubelet-host-memory-mb.',
      0,
    ),
    maxPods: whole('Pods that a Mac takes at a time; macOS runs two virtual machines at most. 0: the default.', 0),
  },
);

const rollout = group('How a new agent, or other things on the Macs themselves, are rolled out. Machines stay.', {
  maxUnavailable: whole('How many Macs are rolled at a time. The first one goes alone.', 1, { minimum: 1 }),
  paused: flag(
    'Pauses the rollout. Hosts already updating finish. `tartan roll pause` does the same, whatever this says.',
    false,
  ),
  gateDeadlineSeconds: whole('A Mac that was rolled must be Ready within this time, or the roll stops.', 900, {
    minimum: 1,
  }),
});

const machineRollout = group(
  'How Cluster API replaces machines when their template is another one. Each replaced Mac is wiped.',
  {
    type: choice('RollingUpdate, or OnDelete: only those that somebody deletes.', 'RollingUpdate', [
      'RollingUpdate',
      'OnDelete',
    ]),
    maxSurge: share('Machines beyond `replicas` meanwhile. Each needs a spare Mac in the pool.', 0),
    maxUnavailable: share('Machines below `replicas` meanwhile.', 1),
  },
);

const healthCheck = group('When a machine is given up and replaced, which wipes its Mac (MachineHealthCheck).', {
  enabled: flag('Whether to do that at all.', true),
  nodeStartupTimeoutSeconds: whole(
    'How long a machine may take to become a Node. Longer than a reinstall (15 minutes), a bootstrap that fails, a reboot and another Mac; half an hour at least. 0: for ever.',
    7200,
  ),
  unhealthyTimeoutSeconds: whole(
    'How long a Node may be not Ready, or silent. Longer than `rollout.gateDeadlineSeconds`, or a roll would be taken for a broken Mac.',
    3600,
    { minimum: 1 },
  ),
  maxUnhealthy: share(
    'When more are unhealthy, none is replaced: then it is an outage, and wiping Macs does not mend it.',
    '50%',
  ),
  maxInFlight: share('How many are replaced at a time.', 1),
});

const drain = group(
  'Whom Cluster API waits for, and does not evict, before it takes a machine away (MachineDrainRule).',
  {
    enabled: flag('Whether to wait for anybody.', true),
    pods: objects(
      'Selectors as in MachineDrainRule: any of them is enough. Runners and Pods of Jobs unless told.',
      [
        { selector: { matchLabels: { [labels.runner]: 'true' } } },
        { selector: { matchExpressions: [{ key: 'batch.kubernetes.io/job-name', operator: 'Exists' }] } },
      ],
      { minItems: 1, maxItems: 32 },
    ),
  },
);

interface Particulars {
  readonly replicas: number;
  readonly adoptPoolPrefix?: Value;
  readonly more?: Readonly<Record<string, Value>>;
}

/** What the fleets have in common is all of it, but for what is given here. */
export const fleet = (
  word: string,
  description: string,
  { replicas, adoptPoolPrefix = poolOfMacosFleet, more = {} }: Particulars,
): Group =>
  group(description, {
    enabled: flag('Whether there is such a fleet. Scale it to 0 and wait before you switch it off.', false),
    name: text(
      `The name of its MachineDeployment, and what names of its machines begin with. Empty: \`<fullname>-${word}-fleet\`.`,
      '',
      nameOrEmpty,
    ),
    replicas: {
      ...whole(
        'How many Macs. Written when it changes; between changes `kubectl scale` and autoscalers may set another number. Lower: that many Macs are wiped. null: never written; a new fleet needs a number, or the sizes of an autoscaler in `annotations`.',
        replicas,
      ),
      schema: { type: ['integer', 'null'], minimum: 0 },
    },
    adoptPoolPrefix,
    kubeletVersion: text(
      'The version of Kubernetes that its Nodes report, such as v1.36.3. Empty: none, and Cluster API compares none.',
      '',
      { pattern: '^(v[0-9]+\\.[0-9]+\\.[0-9]+([-+].+)?)?$' },
    ),
    machine,
    rollout,
    waitForMacs: flag(
      'Whether `helm --wait` waits until all its Macs are Ready. With false, missing or broken ones do not hold the release up; a roll that has stopped still fails it.',
      true,
    ),
    machineRollout,
    healthCheck,
    drain,
    nodeDrainTimeoutSeconds: whole(
      'How long Pods are waited for at most when a machine is taken away; then the Mac goes with what runs on it. 0: for ever.',
      21_600,
    ),
    annotations: words(
      'Annotations of its MachineDeployment, such as the sizes of an autoscaler (both or none). With those a new fleet begins with the smaller size.',
      {},
    ),
    ...more,
  });

const poolOfMacosFleet = text(
  'Servers at Scaleway whose names begin so are the pool that its Macs come from. Empty: that of macosFleet.',
  '',
  prefixOrEmpty,
);

export const poolOfAll = text(
  'Servers at Scaleway whose names begin so are the pool. Also for fleets and machines that name none.',
  serverNames.defaultPoolPrefix,
  { ...prefixOrEmpty, minLength: 2 },
);
