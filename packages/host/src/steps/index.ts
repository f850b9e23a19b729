import type { Preparation } from '../spec/host-spec.ts';
import { actionsRunner } from './actions-runner.ts';
import { agentJob } from './agent-job.ts';
import { agentLogs } from './agent-logs.ts';
import { agentRelease } from './agent-release.ts';
import { agentRuntime } from './agent-runtime.ts';
import { autoLogin } from './auto-login.ts';
import { builderTools } from './builder-tools.ts';
import { guestLeases } from './guest-leases.ts';
import { hostname } from './hostname.ts';
import { joinCredentials } from './join-credentials.ts';
import { nodeExporter } from './node-exporter.ts';
import { passwordlessSudo } from './passwordless-sudo.ts';
import { power } from './power.ts';
import type { Step } from './step.ts';
import { tailscale } from './tailscale.ts';
import { tart } from './tart.ts';
import { vmEgress } from './vm-egress.ts';

/** What makes a Mac ready to be taken over: root, and a console session that stays. `tartan prepare-host` runs these and no more. */
export const preparationSteps: readonly Step<object, Preparation>[] = [passwordlessSudo, power, autoLogin];

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
  // node_exporter listens on the tailnet address, and the agent tells it to the cluster.
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
