import { createHash } from 'node:crypto';
import type { HostSpec } from '../spec/host-spec.ts';

/** What the agent is started with. The only place where a host's specification becomes flags: there is no second one to forget (I-34, I-37). */
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
    // On a builder Packer makes virtual machines of its own, which the agent's collection once deleted while they were pushed (I-34).
    ...(ghActionsRunner === undefined ? [] : ['--disable-vm-gc']),
  ];
};

/** A file in every release that holds the hash of the arguments which its code expects, and nothing else. */
export const argumentsFile = 'arguments';

/**
 * What is in `argumentsFile`. The agent compares it at start with `process.argv.slice(2)`, and exits when they differ: so new code
 * never runs with old arguments, nor the reverse, whatever was cut in the middle of a roll (architecture.md decision 9, G-37).
 */
export const argumentsHash = (args: readonly string[]): string =>
  createHash('sha256')
    .update(args.map((argument) => `${argument}\0`).join(''))
    .digest('hex');
