import { labels, labelValues, macTaint } from '@tartan/api';
import type { Pod } from './snapshot.ts';

/** Whether a Pod that is bound to this Node can become a virtual machine. */
export type Suitability =
  | { readonly kind: 'suited' }
  /** It came here by tolerating everything. Failing it would only bring the next one: it waits, and takes no slot (INC-74). */
  | { readonly kind: 'not for Macs'; readonly message: string }
  /** Somebody wants a Mac for it, and has to learn that this will not do. */
  | { readonly kind: 'unsupported'; readonly message: string };

type Spec = NonNullable<Pod['spec']>;

const asksForMac = ({ nodeSelector, tolerations }: Spec): boolean =>
  nodeSelector?.[labels.os] === labelValues.os ||
  nodeSelector?.[labels.runtime] !== undefined ||
  nodeSelector?.[labels.fleet] !== undefined ||
  (tolerations ?? []).some(({ key }) => key === macTaint.key);

const otherSystem = ({ os, nodeSelector }: Spec): string | undefined => {
  const selected = nodeSelector?.[labels.os];
  if (os?.name !== undefined && os.name !== labelValues.os) return os.name;
  return selected !== undefined && selected !== labelValues.os ? selected : undefined;
};

/** What is mounted is a promise to the program; a volume that nobody mounts promises nothing. */
const unsupportedVolume = ({ containers, volumes }: Spec): string | undefined => {
  const mounted = new Set(containers.flatMap(({ volumeMounts }) => (volumeMounts ?? []).map(({ name }) => name)));
  return (volumes ?? []).find((volume) => mounted.has(volume.name) && volume.projected === undefined)?.name;
};

const shapeProblem = (spec: Spec): string | undefined => {
  const { containers, initContainers } = spec;
  const [container] = containers;
  if (containers.length !== 1)
    return `A virtual machine is one container, and this Pod has ${containers.length}. Make them Pods of their own.`;
  if ((initContainers ?? []).length > 0)
    return 'A virtual machine has no init containers. Do that work in the image, or in the container.';
  if (!container?.image) return 'The container names no image. Give it the reference of a tart image.';
  if ((container.command ?? []).length > 0 || (container.args ?? []).length > 0)
    return 'The image decides what the guest runs. Take command and args out of the container, and hand over what it needs in env.';
  if ((container.volumeDevices ?? []).length > 0)
    return 'A virtual machine gets no block devices of the cluster. Take volumeDevices out of the container.';
  const volume = unsupportedVolume(spec);
  return volume === undefined
    ? undefined
    : `The volume ${volume} cannot be mounted in a virtual machine: only projected ones can. Take the mount out.`;
};

export const suitabilityOf = (pod: Pod): Suitability => {
  const { spec } = pod;
  if (spec === undefined) return { kind: 'unsupported', message: 'The Pod has no spec.' };
  const system = otherSystem(spec);
  if (system !== undefined)
    return {
      kind: 'not for Macs',
      message: `This Node is a Mac, and the Pod is made for ${system}. Keep it away with a node selector.`,
    };
  const ofDaemonSet = (pod.metadata?.ownerReferences ?? []).some(({ kind }) => kind === 'DaemonSet');
  if (ofDaemonSet && !asksForMac(spec))
    return {
      kind: 'not for Macs',
      message: `This Node is a Mac, and the DaemonSet does not ask for Macs. Keep it away with a node selector (${labels.os}), or let it tolerate ${macTaint.key} by name.`,
    };
  const message = shapeProblem(spec);
  return message === undefined ? { kind: 'suited' } : { kind: 'unsupported', message };
};
