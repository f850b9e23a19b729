import { type ClusterConfig, httpsTransport, type Transport } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';

/** How a configuration leads to an API server. */
export type TransportFor = (config: ClusterConfig, clock: Clock) => Transport;

export const overHTTPS: TransportFor = (config, clock) => httpsTransport({ ...config, clock });

/** The same API server, known by the same authority. */
export const isSameCluster = (one: ClusterConfig, other: ClusterConfig): boolean =>
  one.server === other.server &&
  one.ca === other.ca &&
  one.serverName === other.serverName &&
  one.insecureSkipTlsVerify === other.insecureSkipTlsVerify;
