import { type Client, isKubeError, leases, nodes } from '@tartan/kube';
import { type Clock, microTimestamp, sleep, timestamp } from '@tartan/kube/clock';

const renewEveryMs = 5_000;
const leaseNamespace = 'kube-node-lease';
const noPressure = ['MemoryPressure', 'DiskPressure', 'PIDPressure'] as const;
const resources = { cpu: '8', memory: '16Gi', pods: '110', 'ephemeral-storage': '50Gi' };

const ignoreAlreadyExists = async (creation: Promise<unknown>): Promise<void> => {
  await creation.catch((error: unknown) => {
    if (!isKubeError(error, 'alreadyExists')) throw error;
  });
};

/** Registers the Node like the kubelet of a Linux server, with plenty of resources. */
export const registerNode = async (
  client: Client,
  clock: Clock,
  { name, hostIP, version }: { name: string; hostIP: string; version: string },
): Promise<void> => {
  await ignoreAlreadyExists(
    client.create(nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: {
        name,
        labels: { 'kubernetes.io/hostname': name, 'kubernetes.io/os': 'linux', 'kubernetes.io/arch': 'amd64' },
      },
    }),
  );
  const now = timestamp(clock.now());
  const condition = (type: string, status: 'True' | 'False', reason: string) => ({
    type,
    status,
    reason,
    message: '',
    lastHeartbeatTime: now,
    lastTransitionTime: now,
  });
  const status = {
    capacity: resources,
    allocatable: resources,
    addresses: [
      { type: 'InternalIP', address: hostIP },
      { type: 'Hostname', address: name },
    ],
    conditions: [
      ...noPressure.map((type) => condition(type, 'False', `KubeletHasNo${type}`)),
      condition('Ready', 'True', 'KubeletReady'),
    ],
    nodeInfo: {
      operatingSystem: 'linux',
      architecture: 'amd64',
      kubeletVersion: version,
      kubeProxyVersion: '',
      containerRuntimeVersion: 'process://1',
      machineID: name,
      systemUUID: name,
      bootID: name,
      kernelVersion: '',
      osImage: 'a stand-in for Linux',
    },
  };
  await client.patch(nodes, { name }, { type: 'strategic', body: { status } }, { subresource: 'status' });
};

/** Renews the Node's Lease until `signal` fires, also after an outage of the API server. */
export const renewLease = async (client: Client, clock: Clock, name: string, signal: AbortSignal): Promise<void> => {
  const metadata = { namespace: leaseNamespace, name };
  const spec = () => ({ holderIdentity: name, leaseDurationSeconds: 40, renewTime: microTimestamp(clock.now()) });
  while (!signal.aborted) {
    try {
      await client.patch(leases, metadata, { type: 'merge', body: { spec: spec() } });
    } catch (error) {
      if (isKubeError(error, 'notFound'))
        await client
          .create(leases, { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata, spec: spec() })
          .catch(() => {});
    }
    await sleep(clock, renewEveryMs, signal);
  }
};
