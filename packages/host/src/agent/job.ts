import { createHash } from 'node:crypto';
import type { HostSpec } from '../host-spec.ts';
import type { LaunchdJob } from '../launchd-plist.ts';

/** What the agent is started with. The only place where a host's specification becomes flags: there is no second one to forget (INC-46, INC-237). */
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
    // On a builder Packer makes virtual machines of its own, which the agent's collection once deleted while they were pushed (INC-46).
    ...(ghActionsRunner === undefined ? [] : ['--disable-vm-gc']),
  ];
};

/**
 * The content of the file `arguments` in every release. The agent compares it at start with `process.argv.slice(2)`, and exits when they
 * differ: so new code never runs with old arguments, nor the reverse, also after an interrupted rollout.
 */
export const argumentsHash = (args: readonly string[]): string =>
  createHash('sha256')
    .update(args.map((argument) => `${argument}\0`).join(''))
    .digest('hex');

/** Names the folder of a release on the host: another code, another runtime or other arguments is another release. */
export const agentReleaseID = (spec: HostSpec): string => {
  const parts = [spec.agent.release.sha256, spec.agent.runtime.sha256, argumentsHash(agentArguments(spec))];
  return createHash('sha256').update(parts.join('\n')).digest('hex');
};

/** Where runtimes and releases of the agent lie on a host. */
const agentHome = '/usr/local/lib/tart-kubelet';

export const agentLog = '/var/log/tart-kubelet.log';

/**
 * The agent under launchd. It names `current`, never a release: new code alone leaves it as it is, and needs no new registration
 * (INC-09). No limit of open files is set: launchd gives 256, and node raises its own at start.
 */
export const agentLaunchdJob = (spec: HostSpec): LaunchdJob => ({
  Label: 'dev.tuist.tart-kubelet',
  // Virtualization.framework serves only who owns the console session (INC-03).
  UserName: spec.user,
  ProgramArguments: [`${agentHome}/current/node`, `${agentHome}/current/tart-kubelet.mjs`, ...agentArguments(spec)],
  // launchd gives no PATH to speak of (INC-229).
  EnvironmentVariables: {
    HOME: `/Users/${spec.user}`,
    PATH: '/usr/local/bin:/opt/homebrew/bin:/usr/bin:/bin:/usr/sbin:/sbin',
  },
  RunAtLoad: true,
  KeepAlive: true,
  ThrottleInterval: 10,
  StandardOutPath: agentLog,
  StandardErrorPath: agentLog,
  // Time to write the last status of its Pods; well below the 30 s that a reload waits for the job to go.
  ExitTimeOut: 10,
  // What a job starts is throttled as the job is: virtual machines must not be.
  ProcessType: 'Interactive',
  // Virtual machines live on when the agent is rolled (INC-30), also one that has not left the agent's process group yet.
  AbandonProcessGroup: true,
});
