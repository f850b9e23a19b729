import { machine as machineKind, type MacHost } from '@tartan/api';
import { type CallOptions, type Client, ignoreNotFound, type Live, type ObjectName, type Resource } from '@tartan/kube';
import type { CoreCluster } from '../core/cluster.ts';
import {
  clusterNameOf,
  clusterOf,
  hasUnknownOrigin,
  hostPauseReasons,
  machineRefOf,
  pauseReasonsOf,
} from './pauses.ts';

/**
 * Pauses as the API server has them at this moment: read right before something that cannot be undone. A watch may be behind, and whoever
 * pauses a Cluster relies on it once the server has taken it.
 */
export interface PauseReader {
  readonly client: Pick<Client, 'get' | 'list'>;
  readonly coreClusters: Resource<CoreCluster>;
}

/** Of a machine that is there. One that is gone is nobody's to pause. */
export const readMachinePauseReasons = async (
  reader: PauseReader,
  name: ObjectName,
  call: CallOptions,
): Promise<readonly string[]> => {
  const machine = await ignoreNotFound(reader.client.get(machineKind.resource, name, call));
  const clusterName = machine && clusterNameOf(machine);
  const cluster = clusterName && (await readCluster(reader, clusterName, call));
  return machine === undefined ? [] : pauseReasonsOf(machine, cluster);
};

export const readHostPauseReasons = async (
  reader: PauseReader,
  host: Live<MacHost>,
  call: CallOptions,
): Promise<readonly string[]> => {
  const { client, coreClusters } = reader;
  const ref = machineRefOf(host);
  const found = ref && (await ignoreNotFound(client.get(machineKind.resource, ref, call)));
  const machine = found?.metadata.uid === ref?.uid ? found : undefined;
  const clusterName = clusterOf(ref, machine);
  const cluster = clusterName && (await readCluster(reader, clusterName, call));
  const clusters = hasUnknownOrigin(host) ? ((await ignoreNotFound(client.list(coreClusters, call)))?.items ?? []) : [];
  return hostPauseReasons(host, { machine: () => machine, cluster: () => cluster, clusters: () => clusters });
};

export const readCluster = (
  { client, coreClusters }: PauseReader,
  name: ObjectName,
  call: CallOptions,
): Promise<Live<CoreCluster> | undefined> => ignoreNotFound(client.get(coreClusters, name, call));
