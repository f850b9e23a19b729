/** The Cluster API provider: controllers that join the pool of hosts and what is done on a host to custom resources. */

// What it is told when it starts.
export { parseFlags } from './flags/parse-flags.ts';
export type { ProviderOptions } from './flags/provider-options.ts';

// Who a Mac is to Kubernetes.
export { clientRequests, createApprover } from './identity/csr/controller.ts';
export type { MachineIdentity } from './identity/csr/observe.ts';
export { identityRights, joinBinding, joinRights, type MacRight, macRights } from './identity/rights.ts';

// What Cluster API waits for before it makes machines.
export { coreClusters } from './core/kinds.ts';
export { explainedRemoteRights, remoteRights } from './control-plane/remote-rights.ts';

// All of it as one manager.
export { createProvider, type ProviderDeps } from './manager/create-provider.ts';
export { createProviderMetrics, type ProviderMetrics } from './manager/provider-metrics.ts';
export { explainedRights, providerRights } from './manager/rights.ts';
export { loadHostSettings } from './host-work/host-settings.ts';

// What the chart's hook may do, which brings definitions up to date.
export { installRights } from './crds/install.ts';

// What the chart's other hook may do, which looks for Macs before a release goes.
export { uninstallRights } from './uninstall/check.ts';
