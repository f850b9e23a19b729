/** The Cluster API provider: controllers that join the pool of hosts and what is done on a host to custom resources. */

// What it is told when it starts.
export { type Credentials, parseCredentials, type ParsedCredentials } from './flags/parse-credentials.ts';
export { parseFlags, type ParsedFlags } from './flags/parse-flags.ts';
export type { ProviderOptions } from './flags/provider-options.ts';

// Who a Mac is to Kubernetes.
export * from './identity/index.ts';

// Pods whose Mac is gone.
export { createPodRelease, type PodReleaseOptions } from './pods/controller.ts';
export { createProviderMetrics, createReleaseCounter, type ProviderMetrics } from './manager/provider-metrics.ts';

// Pods that should spread over Macs.
export { createFleetSpread, type FleetSpreadOptions } from './spread/controller.ts';

// What Cluster API waits for before it makes machines.
export { type ClusterControllerOptions, createClusterController } from './cluster/controller.ts';
export { type CoreCluster, coreClusters } from './core/cluster.ts';
export { type ControlPlaneOptions, createControlPlaneController } from './control-plane/controller.ts';
export { explainedRemoteRights, remoteRights, type RemoteRight } from './control-plane/remote-rights.ts';
export { serviceAddress } from './control-plane/observe.ts';

// All of it as one manager.
export { createProvider, type Intervals, type Provider, type ProviderDeps } from './manager/create-provider.ts';
export { explainedRights, providerRights } from './manager/rights.ts';
export { loadHostSettings } from './host-work/host-settings.ts';

// What the chart's hook may do, which brings definitions up to date.
export { installRights } from './crds/install.ts';

// What the chart's other hook may do, which looks for Macs before a release goes.
export { uninstallRights } from './uninstall/check.ts';
