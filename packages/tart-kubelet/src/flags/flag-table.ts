import {
  absolutePath,
  booleanValue,
  type Flag,
  flag,
  integerValue,
  ipv4,
  matching,
  nodeName,
  oneOf,
  optional,
  providerID,
} from './flag-types.ts';
import { type Labels, nodeLabels } from './node-labels.ts';

/**
 * Every flag of the agent. Names and variables of the original stay where they mean the same. What `packages/host` passes is here; no
 * secret ever is, as arguments are shown to whoever may list processes.
 */
export const flags = {
  nodeName: flag<string | undefined>('node-name', {
    type: nodeName,
    defaultValue: undefined,
    env: 'TART_KUBELET_NODE_NAME',
    help: 'Name of the Node. That of the Mac unless told.',
  }),
  kubeconfig: flag('kubeconfig', {
    type: absolutePath,
    defaultValue: '/etc/tart-kubelet/kubeconfig',
    env: 'KUBECONFIG',
    help: 'Where the cluster is and how to join it. The certificate of the Node is kept beside it.',
  }),
  providerID: flag('provider-id', {
    type: optional(providerID),
    defaultValue: undefined,
    env: 'TART_KUBELET_PROVIDER_ID',
    help: 'Which server this Mac is. Given to a Node that has none, and never changed.',
  }),
  nodeIP: flag('node-ip', {
    type: optional(ipv4),
    defaultValue: undefined,
    env: 'TART_KUBELET_NODE_IP',
    help: 'Address of the Node. Found by --node-ip-source unless told.',
  }),
  nodeIPSource: flag('node-ip-source', {
    type: oneOf('auto', 'tailscale'),
    defaultValue: 'auto',
    env: 'TART_KUBELET_NODE_IP_SOURCE',
    help: 'Take the first address of a network interface, or that of the tailnet and no other.',
  }),
  nodeLabels: flag<Labels>('node-labels', {
    type: nodeLabels,
    defaultValue: {},
    env: 'TART_KUBELET_NODE_LABELS',
    help: 'Labels of the Node besides those that every Mac has.',
  }),
  hostCPU: flag('host-cpu', {
    type: integerValue(1, 999, 8),
    defaultValue: 8,
    help: 'CPUs that the Node offers to Pods.',
  }),
  hostMemoryMB: flag('host-memory-mb', {
    type: integerValue(1, 16_777_216, 14_336),
    defaultValue: 16_384,
    help: 'Memory that the Node offers to Pods, in MiB.',
  }),
  maxPods: flag('max-pods', {
    type: integerValue(1, 110, 3),
    defaultValue: 2,
    help: 'Pods that may be bound to the Node at a time, also those that take no virtual machine (see --vm-slots).',
  }),
  vmSlots: flag('vm-slots', {
    type: integerValue(1, 2, 2),
    defaultValue: 2,
    help: 'Virtual machines that run at a time. macOS allows two.',
  }),
  disableVMGC: flag('disable-vm-gc', {
    type: booleanValue,
    defaultValue: false,
    help: 'Collect no virtual machines and images. For Macs on which somebody else makes some.',
  }),
  kubeletVersion: flag('kubelet-version', {
    type: optional(
      matching(
        /^[A-Za-z0-9][-+._A-Za-z0-9]{0,62}$/,
        'v1.36.3',
        'is no version: at most 63 letters, digits, dots, dashes and plus signs',
      ),
    ),
    defaultValue: undefined,
    help: 'Version that the Node reports, to the letter. Must be that of the Machine. None unless told.',
  }),
  port: flag('port', {
    type: integerValue(0, 65_535, 10_250),
    defaultValue: 10_250,
    env: 'TART_KUBELET_PORT',
    help: 'Where the kubelet API is served, on the address of the Node. 0 is any free one.',
  }),
  tartBinary: flag('tart-binary', {
    type: { ...absolutePath, example: '/usr/local/bin/tart' },
    defaultValue: '/usr/local/bin/tart',
    help: 'The tart command.',
  }),
  logLevel: flag('log-level', {
    type: oneOf('info', 'debug', 'warn', 'error'),
    defaultValue: 'info',
    help: 'Lines below this level are not written.',
  }),
};

export const allFlags: readonly Flag<unknown>[] = Object.values<Flag<unknown>>(flags);
