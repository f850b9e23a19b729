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

/** What makes a Mac ready to be taken over: root, and a console session that stays. `tartan prepare-host` runs these and no more. */
export const preparationSteps: readonly AnyStep[] = [passwordlessSudo, power, autoLogin];

/**
 * Everything that is done to a host, in this order, on every path. An entry knows why it stands where it does.
 * Optional steps stand last: they can cost only themselves.
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
  // The runtime before the release that names it, both before the job that switches to them.
  agentRuntime,
  agentRelease,
  joinCredentials,
  agentJob,
  agentLogs,
  builderTools,
  actionsRunner,
];

/** The steps of a specification. A Mac that is not a Node yet gets those of its preparation only. */
export const stepsOf = (spec: HostSpec | Preparation): readonly AnyStep[] =>
  'nodeName' in spec ? hostSteps : preparationSteps;
