import type { HostSpec, Preparation } from '../host-spec.ts';
import { agentJob, agentLogs, agentRelease, agentRuntime, joinCredentials } from './agent.ts';
import { actionsRunner, builderTools } from './builder.ts';
import { guestLeases, vmEgress } from './guest-network.ts';
import { hostname } from './hostname.ts';
import { nodeExporter } from './node-exporter.ts';
import { autoLogin, passwordlessSudo, power } from './preparation.ts';
import type { AnyStep, Step } from './step.ts';
import { tailscale } from './tailscale.ts';
import { tart } from './tart.ts';

/** The steps before a Mac can be adopted: root, and a permanent console session. `tartan prepare-host` runs only these. */
export const preparationSteps: readonly AnyStep[] = [passwordlessSudo, power, autoLogin];

/**
 * All steps of a host, in this order on every path. Comments give the reason for an order.
 * Optional steps are last: their failure affects no other step.
 */
export const hostSteps: readonly Step[] = [
  ...preparationSteps,
  hostname,
  tart,
  guestLeases,
  vmEgress,
  // node_exporter listens on the tailnet address, and the agent reports that address to the cluster.
  tailscale,
  nodeExporter,
  // The runtime before the release that names it, and both before the job that switches to them.
  agentRuntime,
  agentRelease,
  joinCredentials,
  agentJob,
  agentLogs,
  builderTools,
  actionsRunner,
];

/** The steps of a specification. A Mac that is not a Node yet gets only the preparation steps. */
export const stepsOf = (spec: HostSpec | Preparation): readonly AnyStep[] =>
  'nodeName' in spec ? hostSteps : preparationSteps;
