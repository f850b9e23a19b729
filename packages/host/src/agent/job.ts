import { createHash } from 'node:crypto';
import type { HostSpec } from '../host-spec.ts';
import type { LaunchdJob } from '../launchd-plist.ts';

/** The agent's flags. The only place where a host's specification becomes flags, so no second place can miss one (INC-46, INC-237). */
export const agentArguments = ({ nodeName, agent, tailscale, ghActionsRunner }: HostSpec): readonly string[] => {
  const labels = Object.keys(agent.nodeLabels)
    .sort()
    .map((key) => `${key}=${agent.nodeLabels[key]}`);
  return [
    `--node-name=${nodeName}`,
    '--kubeconfig=/etc/tart-kubelet/kubeconfig',
    `--host-cpu=${agent.hostCPU}`,
    `--host-memory-mb=${agent.hostMemoryMB}`,
    `--max-pods=${agent.maxPods}`,
    ...(labels.length === 0 ? [] : [`--node-labels=${labels.join(',')}`]),
    ...(tailscale === undefined ? [] : ['--node-ip-source=tailscale']),
    ...(agent.providerID === undefined ? [] : [`--provider-id=${agent.providerID}`]),
    ...(agent.kubeletVersion === undefined ? [] : [`--kubelet-version=${agent.kubeletVersion}`]),
    // On a builder Packer creates virtual machines, and the agent's garbage collection once deleted them during their push (INC-46).
    ...(ghActionsRunner === undefined ? [] : ['--disable-vm-gc']),
  ];
};

/**
 * The content of the file `arguments` in every release. The agent compares it at start with `process.argv.slice(2)` and exits when they
 * differ: new code never runs with old arguments, nor old code with new ones, even after an interrupted rollout.
 */
export const argumentsHash = (args: readonly string[]): string =>
  createHash('sha256')
    .update(args.map((argument) => `${argument}\0`).join(''))
    .digest('hex');

/** Names the folder of a release on the host: different code, runtime or arguments make a different release. */
export const agentReleaseID = (spec: HostSpec): string => {
  const parts = [spec.agent.release.sha256, spec.agent.runtime.sha256, argumentsHash(agentArguments(spec))];
  return createHash('sha256').update(parts.join('\n')).digest('hex');
};

/** The folder of the agent's runtimes and releases on a host. */
const agentHome = '/usr/local/lib/tart-kubelet';

export const agentLog = '/var/log/tart-kubelet.log';

/**
 * The agent's launchd job. It names `current`, never a release: new code alone leaves the job unchanged and needs no new registration
 * (INC-09). It sets no limit of open files: launchd gives 256, and node raises its own limit at start.
 */
export const agentLaunchdJob = (spec: HostSpec): LaunchdJob => ({
  Label: 'dev.tuist.tart-kubelet',
  // Virtualization.framework works only for the user who owns the console session (INC-03).
  UserName: spec.user,
  ProgramArguments: [`${agentHome}/current/node`, `${agentHome}/current/tart-kubelet.mjs`, ...agentArguments(spec)],
  // launchd's default PATH lacks /usr/local/bin and Homebrew (INC-229).
  EnvironmentVariables: {
    HOME: `/Users/${spec.user}`,
    PATH: '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  },
  RunAtLoad: true,
  KeepAlive: true,
  ThrottleInterval: 10,
  StandardOutPath: agentLog,
  StandardErrorPath: agentLog,
  // Time for the agent to write the last status of its Pods; well below the 30 s that a reload waits for the job to end.
  ExitTimeOut: 10,
  // Child processes inherit the job's throttling, and virtual machines must not be throttled.
  ProcessType: 'Interactive',
  // Virtual machines survive a restart of the agent (INC-30), even one that is still in the agent's process group.
  AbandonProcessGroup: true,
});
