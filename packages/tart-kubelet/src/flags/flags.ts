import {
  absolutePath,
  bool,
  flag,
  type FlagGroup,
  helpText,
  integer,
  ipv4Address,
  logFlags,
  oneOf,
  optional,
  parseFlagTable,
  type ReadFlag,
  stringMatching,
} from '@tartan/kube/flags';
import { nodeLabels } from './node-labels.ts';

/** At most 63 characters, because `kubernetes.io/hostname` is a label value. */
const nodeName = stringMatching({
  placeholder: 'name',
  example: 'mac-1',
  pattern: /^(?=.{1,63}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/,
  otherwise: 'is no name of a Node: at most 63 lower-case letters, digits, dashes and dots',
});

/** Not validated further: Cluster API compares it byte by byte. */
const providerID = stringMatching({
  placeholder: 'scheme://place/server',
  example: 'scw-applesilicon://fr-par-1/11111111-1111-1111-1111-111111111111',
  pattern: /^[a-z][-a-z0-9+.]*:\/\/\/?[^\s/][^\s]*$/,
  otherwise: 'is no provider id, which has the form scheme://place/server',
});

const kubeletVersion = stringMatching({
  placeholder: 'version',
  example: 'v1.36.3',
  pattern: /^[A-Za-z0-9][-+._A-Za-z0-9]{0,62}$/,
  otherwise: 'is no version: at most 63 letters, digits, dots, dashes and plus signs',
});

/**
 * All flags of the agent. Names and variables of the original system are kept where the meaning is the same. `packages/host` passes
 * them. Never a secret: every user of the Mac can list arguments.
 */
const flags = {
  nodeName: flag('node-name', {
    type: optional(nodeName),
    default: undefined,
    env: 'TART_KUBELET_NODE_NAME',
    help: 'Name of the Node. Default: the host name of the Mac.',
  }),
  kubeconfig: flag('kubeconfig', {
    type: absolutePath,
    default: '/etc/tart-kubelet/kubeconfig',
    env: 'KUBECONFIG',
    help: 'Where the cluster is and how to join it. The certificate of the Node is kept beside it.',
  }),
  providerID: flag('provider-id', {
    type: optional(providerID),
    default: undefined,
    env: 'TART_KUBELET_PROVIDER_ID',
    help: 'Which server this Mac is. Given to a Node that has none, and never changed.',
  }),
  nodeIP: flag('node-ip', {
    type: optional(ipv4Address),
    default: undefined,
    env: 'TART_KUBELET_NODE_IP',
    help: 'IPv4 address of the Node. Default: the address that --node-ip-source selects.',
  }),
  nodeIPSource: flag('node-ip-source', {
    type: oneOf(['auto', 'tailscale']),
    default: 'auto',
    env: 'TART_KUBELET_NODE_IP_SOURCE',
    help: 'Take the first address of a network interface, or that of the tailnet and no other.',
  }),
  nodeLabels: flag('node-labels', {
    type: nodeLabels,
    default: {},
    env: 'TART_KUBELET_NODE_LABELS',
    help: 'Labels of the Node besides those that every Mac has.',
  }),
  hostCPU: flag('host-cpu', {
    type: integer({ from: 1, to: 999 }),
    default: 8,
    help: 'CPUs that the Node offers to Pods.',
  }),
  hostMemoryMB: flag('host-memory-mb', {
    type: integer({ from: 1, to: 16_777_216 }),
    default: 16_384,
    help: 'Memory that the Node offers to Pods, in MiB.',
  }),
  maxPods: flag('max-pods', {
    type: integer({ from: 1, to: 110 }),
    default: 2,
    help: 'Pods that may be bound to the Node at a time, also those that take no virtual machine (see --vm-slots).',
  }),
  vmSlots: flag('vm-slots', {
    type: integer({ from: 1, to: 2 }),
    default: 2,
    help: 'Virtual machines that run at a time. macOS allows two.',
  }),
  disableVMGC: flag('disable-vm-gc', {
    type: bool,
    default: false,
    help: 'Collect no virtual machines and images. For Macs on which other tools create some.',
  }),
  kubeletVersion: flag('kubelet-version', {
    type: optional(kubeletVersion),
    default: undefined,
    help: 'Kubernetes version that the Node reports, unchanged. Must equal the version of the Machine. Default: none.',
  }),
  port: flag('port', {
    type: integer({ from: 0, to: 65_535 }),
    default: 10_250,
    env: 'TART_KUBELET_PORT',
    help: 'Where the kubelet API is served, on the address of the Node. 0 is any free one.',
  }),
  tartBinary: flag('tart-binary', {
    type: absolutePath,
    default: '/usr/local/bin/tart',
    help: 'The tart command.',
  }),
  logLevel: logFlags.logLevel,
};

export const flagGroups: readonly FlagGroup[] = [{ title: 'Flags', flags: Object.values(flags) }];
const table = { groups: flagGroups, rules: [] };

const agentOptions = (read: ReadFlag, hostname: string) => ({
  nodeName: read(flags.nodeName) ?? hostname,
  kubeconfig: read(flags.kubeconfig),
  providerID: read(flags.providerID),
  nodeIP: read(flags.nodeIP),
  nodeIPSource: read(flags.nodeIPSource),
  nodeLabels: read(flags.nodeLabels),
  hostCPU: read(flags.hostCPU),
  hostMemoryMB: read(flags.hostMemoryMB),
  maxPods: read(flags.maxPods),
  vmSlots: read(flags.vmSlots),
  disableVMGC: read(flags.disableVMGC),
  kubeletVersion: read(flags.kubeletVersion),
  port: read(flags.port),
  tartBinary: read(flags.tartBinary),
  logLevel: read(flags.logLevel),
});

/** The values of all flags. */
export type AgentOptions = Readonly<ReturnType<typeof agentOptions>>;

type ParsedFlags =
  | { readonly options: AgentOptions }
  | { readonly help: string }
  /** All errors at once. */
  | { readonly errors: readonly string[] };

/** Parses the arguments and the environment of the agent. Pure and total. */
export const parseFlags = (
  args: readonly string[],
  { env, hostname }: { readonly env: Readonly<Record<string, string | undefined>>; readonly hostname: string },
): ParsedFlags => {
  const parsed = parseFlagTable(table, args, env);
  if ('wantsHelp' in parsed) {
    const about = 'tart-kubelet makes this Mac a Kubernetes Node whose Pods are macOS virtual machines.';
    return { help: helpText({ about, program: 'tart-kubelet', table }) };
  }
  if ('errors' in parsed) return parsed;
  // macOS chooses host names such as `mac-1.local` and `Mac-1`.
  const options = agentOptions(parsed.read, hostname.toLowerCase());
  const name = nodeName.parse(options.nodeName);
  return 'problem' in name
    ? { errors: [`The name of this Mac, ${JSON.stringify(hostname)}, ${name.problem}. Set --node-name.`] }
    : { options };
};
