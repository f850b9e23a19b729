import type { Pod } from './snapshot.ts';

export interface NodeAddress {
  readonly hostIP: string | undefined;
}

/** `metadata.labels['example.com/a']`. */
const subscript = /^metadata\.(labels|annotations)\['(.*)'\]$/;

/**
 * What a field of the Pod says. `undefined`: there is no such field to be had before the virtual machine is on, which is never the same
 * as an empty one (G25).
 */
export const fieldOf = (pod: Pod, path: string, { hostIP }: NodeAddress): string | undefined => {
  const { metadata, spec } = pod;
  const [, map, key] = subscript.exec(path) ?? [];
  // A label that is not there reads as empty, as in Kubernetes.
  if (map !== undefined && key !== undefined)
    return (map === 'labels' ? metadata?.labels : metadata?.annotations)?.[key] ?? '';
  switch (path) {
    case 'metadata.name':
      return metadata?.name ?? '';
    case 'metadata.namespace':
      return metadata?.namespace ?? '';
    case 'metadata.uid':
      return metadata?.uid ?? '';
    case 'spec.nodeName':
      return spec?.nodeName ?? '';
    case 'spec.serviceAccountName':
      return spec?.serviceAccountName ?? '';
    case 'status.hostIP':
    case 'status.hostIPs':
      return hostIP;
    default:
      return undefined;
  }
};
