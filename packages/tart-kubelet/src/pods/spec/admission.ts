import { labels, labelValues, macTaint } from '@tartan/api';
import type { Pod } from '../snapshot.ts';

/** Whether a Pod bound to this Node can be a VM. */
export type Admission =
  | { readonly kind: 'suited' }
  /**
   * It tolerates everything and was scheduled here by accident. Failing it would only bring the next one: it waits, and takes
   * no slot (INC-74).
   */
  | { readonly kind: 'not for Macs'; readonly message: string }
  /** It asks for a Mac, so its user must learn why it cannot run. */
  | { readonly kind: 'unsupported'; readonly message: string };

type Spec = NonNullable<Pod['spec']>;

const targetsMacs = ({ nodeSelector, tolerations }: Spec): boolean =>
  nodeSelector?.[labels.os] === labelValues.os ||
  nodeSelector?.[labels.runtime] !== undefined ||
  nodeSelector?.[labels.fleet] !== undefined ||
  (tolerations ?? []).some(({ key }) => key === macTaint.key);

const foreignOs = ({ os, nodeSelector }: Spec): string | undefined =>
  [os?.name, nodeSelector?.[labels.os]].find((name) => name !== undefined && name !== labelValues.os);

/** A program relies on mounted volumes; unmounted ones do not matter. */
const unsupportedVolume = ({ containers, volumes }: Spec): string | undefined => {
  const mounted = new Set(containers.flatMap(({ volumeMounts }) => (volumeMounts ?? []).map(({ name }) => name)));
  return (volumes ?? []).find((volume) => mounted.has(volume.name) && volume.projected === undefined)?.name;
};

const unsupportedReason = (spec: Spec): string | undefined => {
  const { containers, initContainers } = spec;
  const [container, ...others] = containers;
  if (container === undefined || others.length > 0)
    return `A virtual machine is one container, and this Pod has ${containers.length}. Make them Pods of their own.`;
  if ((initContainers ?? []).length > 0)
    return 'A virtual machine has no init containers. Do that work in the image, or in the container.';
  if (!container.image) return 'The container names no image. Give it the reference of a tart image.';
  if ((container.command ?? []).length > 0 || (container.args ?? []).length > 0)
    return 'The image decides what the guest runs. Take command and args out of the container, and hand over what it needs in env.';
  if ((container.volumeDevices ?? []).length > 0)
    return 'A virtual machine gets no block devices of the cluster. Take volumeDevices out of the container.';
  const volume = unsupportedVolume(spec);
  return volume === undefined
    ? undefined
    : `The volume ${volume} cannot be mounted in a virtual machine: only projected ones can. Take the mount out.`;
};

export const admit = (pod: Pod): Admission => {
  const { spec } = pod;
  if (spec === undefined) return { kind: 'unsupported', message: 'The Pod has no spec.' };
  const system = foreignOs(spec);
  if (system !== undefined)
    return {
      kind: 'not for Macs',
      message: `This Node is a Mac, and the Pod is made for ${system}. Keep it away with a node selector.`,
    };
  const ofDaemonSet = (pod.metadata?.ownerReferences ?? []).some(({ kind }) => kind === 'DaemonSet');
  if (ofDaemonSet && !targetsMacs(spec))
    return {
      kind: 'not for Macs',
      message: `This Node is a Mac, and the DaemonSet does not ask for Macs. Keep it away with a node selector (${labels.os}), or let it tolerate ${macTaint.key} by name.`,
    };
  const message = unsupportedReason(spec);
  return message === undefined ? { kind: 'suited' } : { kind: 'unsupported', message };
};

type Container = Spec['containers'][number];

/** No field means anything by its zero value. */
const isSet = (value: unknown): boolean => {
  if (!value) return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
};

/** Reported if set to another value than the API server's default. */
const ignoredPodFields = [
  'dnsConfig',
  'dnsPolicy',
  'ephemeralContainers',
  'hostAliases',
  'hostIPC',
  'hostname',
  'hostNetwork',
  'hostPID',
  'resourceClaims',
  'resources',
  'runtimeClassName',
  'securityContext',
  'setHostnameAsFQDN',
  'shareProcessNamespace',
  'subdomain',
] as const satisfies readonly (keyof Spec)[];

const ignoredContainerFieldNames = [
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'restartPolicy',
  'securityContext',
  'startupProbe',
  'stdin',
  'terminationMessagePath',
  'terminationMessagePolicy',
  'tty',
  'workingDir',
] as const satisfies readonly (keyof Container)[];

/** Defaults of the API server, or values that match a VM's behaviour. */
const apiServerDefaults: Readonly<Record<string, readonly unknown[]>> = {
  dnsPolicy: ['ClusterFirst', 'Default'],
  terminationMessagePath: ['/dev/termination-log'],
  terminationMessagePolicy: ['File'],
};

/** The paths of the fields that are set. */
const setFields = <T extends object>(object: T, path: string, names: readonly (keyof T & string)[]): string[] =>
  names
    .filter((name) => isSet(object[name]) && apiServerDefaults[name]?.includes(object[name]) !== true)
    .map((name) => `${path}.${name}`);

const ignoredContainerFields = (container: Container, path: string): readonly string[] => [
  ...setFields(container, path, ignoredContainerFieldNames),
  ...(container.ports ?? []).flatMap((port, at) => setFields(port, `${path}.ports[${at}]`, ['hostPort'])),
  ...(container.volumeMounts ?? []).flatMap((mount, at) =>
    setFields(mount, `${path}.volumeMounts[${at}]`, ['subPath', 'subPathExpr']),
  ),
];

/**
 * Paths of fields that a kubelet would honour and this agent ignores. Without fields that the API server or its admission sets by
 * default, that only the scheduler reads, or that `admit` rejects.
 */
export const ignoredFields = ({ spec }: Pod): readonly string[] => {
  if (spec === undefined) return [];
  return [
    ...setFields(spec, 'spec', ignoredPodFields),
    // False requests a user namespace; absent means true.
    ...(spec.hostUsers === false ? ['spec.hostUsers'] : []),
    ...spec.containers.flatMap((container, at) => ignoredContainerFields(container, `spec.containers[${at}]`)),
  ].sort();
};
