import { kindNames, macHost, type MacHost, type MacHostSpec, type MacHostStatus } from '@tartan/api';
import { apiVersionOf, type Live } from '@tartan/kube';
import type { HostRequirements } from '../choose-host.ts';

export const wanted: HostRequirements = {
  name: 'tuist-tuist-a',
  uid: 'uid-a',
  zone: 'fr-par-1',
  type: 'M2-L',
  os: 'Tahoe',
  poolPrefix: 'tuist-pool-',
  recordedServer: 'z',
};

/** A status that fits `wanted`. */
export const freeStatus = {
  state: 'pool',
  since: '2026-01-01T00:00:00Z',
  name: 'tuist-pool-00000001',
  type: 'M2-L',
  osFamily: 'Tahoe',
  osImage: 'macos-tahoe-26.3',
  serverStatus: 'ready',
} as const satisfies MacHostStatus;

export const heldBy = (name: string, uid: string, namespace = 'macs'): NonNullable<MacHostSpec['consumerRef']> => ({
  apiVersion: apiVersionOf(kindNames.machine),
  kind: kindNames.machine.kind,
  namespace,
  name,
  uid,
});

export const exampleRelease = {
  poolPrefix: 'tuist-pool-',
  reason: 'MachineDeleted',
  requestedAt: '2026-01-01T00:00:00Z',
} as const;

/** A free host of the pool, as the server returns it, with these changes. */
export const hostWith = (
  name: string,
  { spec, status, metadata }: { spec?: Partial<MacHostSpec>; status?: MacHostStatus; metadata?: object } = {},
): Live<MacHost> => {
  const made = macHost.make({ metadata: { name }, spec: { zone: 'fr-par-1', ...spec } });
  return {
    ...made,
    metadata: {
      name,
      uid: `uid-of-${name}`,
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      ...metadata,
    },
    status: { ...freeStatus, ...status },
  };
};
