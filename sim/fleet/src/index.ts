/** A whole fleet on this machine: the simulators, and Tartan's own programs as processes. */
export { type AgentRelease, agentText, artifactFlags } from './artifacts.ts';
export { connect, type ControlPlane, fleetNamespace } from './control-plane.ts';
export {
  addMachine,
  claimPrefix,
  clusterName,
  coreKinds,
  deploymentOf,
  ensureFleets,
  type FleetName,
  fleetNames,
  type FleetSizes,
  untilHostsFound,
  untilMachinesReady,
} from './fleets.ts';
export { freePort } from './free-port.ts';
export { appSecretName, githubURLVariable, queueJob, startGitHubFor } from './github.ts';
export { openRunnerBridge, type RunnerBridge, runnerGuestScript } from './guests.ts';
export { createInstaller, untilServed } from './installer.ts';
export { type MacPool, ensureSSHKey, startMacPool } from './mac-pool.ts';
export { createManagerDeployment, type ManagerProcess } from './manager-deployment.ts';
export { installProvider, providerFlags, writeProviderKubeconfig } from './provider.ts';
export { poolName, runnerImage, type SimulatedRunners } from './runners.ts';
export {
  type HostKind,
  hostKinds,
  type Progress,
  type Simulation,
  type SimulationOptions,
  startSimulation,
} from './simulation.ts';
export { startEmbedded, useExistingCluster } from './start-control-plane.ts';
export { untilObjects } from './wait.ts';
