/** The Cluster API provider: controllers that connect custom resources with the host pool and the work on hosts. */

// Options from flags and the environment.
export { parseFlags } from './flags/parse-flags.ts';
export type { ProviderOptions } from './flags/provider-options.ts';

// The identity of a Mac in Kubernetes.
export { clientRequests, createApprover } from './identity/csr/controller.ts';
export type { MachineIdentity } from './identity/csr/observe.ts';
export { identityRights, joinBinding, joinRights, type MacRight, macRights } from './identity/rights.ts';

// What Cluster API needs before it creates machines.
export { coreClusters } from './core/kinds.ts';
export { explainedRemoteRights, remoteRights } from './control-plane/remote-rights.ts';

// All controllers as one manager.
export { createProvider, type ProviderDeps } from './manager/create-provider.ts';
export { createProviderMetrics, type ProviderMetrics } from './manager/provider-metrics.ts';
export { explainedRights, providerRights } from './manager/rights.ts';
export { loadHostSettings } from './host-work/host-settings.ts';

// RBAC rules of the chart's hook that updates the CRDs.
export { installRights } from './crds/install.ts';

// RBAC rules of the chart's hook that looks for Macs before an uninstall.
export { uninstallRights } from './uninstall/check.ts';
