import type { Live, nodes } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { AgentFlags } from './flags.ts';

export type Node = NonNullable<(typeof nodes)['ofType']>;
type Status = NonNullable<Node['status']>;
type Condition = NonNullable<Status['conditions']>[number];

/** What an agent has to say of itself. */
export interface Report {
  readonly flags: AgentFlags;
  readonly version: string;
  readonly ready: boolean;
  readonly summary: string;
  readonly address: string;
}

export const summaryAnnotation = 'tuist.dev/host-config-hash';

/** The Node as it is created: all that a Node may say of itself only then, such as its taints. */
export const newNode = ({ flags, summary }: Pick<Report, 'flags' | 'summary'>): Node => ({
  apiVersion: 'v1',
  kind: 'Node',
  metadata: {
    name: flags.nodeName,
    labels: {
      'kubernetes.io/os': 'darwin',
      'kubernetes.io/arch': 'arm64',
      'kubernetes.io/hostname': flags.nodeName,
      'tuist.dev/runtime': 'tart',
      ...flags.labels,
    },
    annotations: { [summaryAnnotation]: summary },
  },
  spec: {
    taints: [{ key: 'tuist.dev/macos', value: 'true', effect: 'NoSchedule' }],
    ...(flags.providerID === undefined ? {} : { providerID: flags.providerID }),
  },
});

/** What of an existing Node is to be changed for it to be this agent's; `undefined` when nothing is. The provider id is filled in, never changed. */
export const nodeChanges = (node: Live<Node>, { flags, summary }: Report): object | undefined => {
  const { metadata, spec } = node;
  const labels = newNode({ flags, summary }).metadata?.labels ?? {};
  const sameLabels = Object.entries(labels).every(([key, value]) => metadata.labels?.[key] === value);
  const sameSummary = metadata.annotations?.[summaryAnnotation] === summary;
  const fillIn = spec?.providerID === undefined && flags.providerID !== undefined;
  if (sameLabels && sameSummary && !fillIn) return undefined;
  return {
    metadata: { labels, annotations: { [summaryAnnotation]: summary } },
    ...(fillIn ? { spec: { providerID: flags.providerID } } : {}),
  };
};

/** As the API server writes it back: in the largest unit that loses nothing. */
const quantityOf = (megabytes: number): string => {
  const units = ['Mi', 'Gi', 'Ti'];
  let [value, unit] = [megabytes, 0];
  while (value > 0 && value % 1024 === 0 && unit < units.length - 1) [value, unit] = [value / 1024, unit + 1];
  return `${value}${units[unit]}`;
};

const claims = ({ ready }: Report): Pick<Condition, 'type' | 'status' | 'reason' | 'message'>[] => [
  { type: 'MemoryPressure', status: 'False', reason: 'KubeletHasSufficientMemory', message: '' },
  { type: 'DiskPressure', status: 'False', reason: 'KubeletHasNoDiskPressure', message: '' },
  { type: 'PIDPressure', status: 'False', reason: 'KubeletHasSufficientPID', message: '' },
  ready
    ? { type: 'Ready', status: 'True', reason: 'TartKubeletReady', message: 'the agent reports' }
    : { type: 'Ready', status: 'False', reason: 'TartKubeletNotReady', message: 'the agent runs and is not ready' },
];

/** The status to write; `undefined` when the Node says so already. */
export const statusChanges = (node: Live<Node>, report: Report, now: number): Status | undefined => {
  const { flags, version, address } = report;
  const before = (type: string): Condition | undefined => node.status?.conditions?.find((each) => each.type === type);
  const resources = { cpu: String(flags.cpu), memory: quantityOf(flags.memoryMB), pods: String(flags.maxPods) };
  const said = claims(report).every((claim) => {
    const old = before(claim.type);
    return old?.status === claim.status && old.reason === claim.reason;
  });
  const sameOffer = Object.entries(resources).every(([key, value]) => node.status?.capacity?.[key] === value);
  if (said && sameOffer && node.status?.nodeInfo?.kubeletVersion === version) return undefined;
  const time = timestamp(now);
  return {
    capacity: resources,
    allocatable: resources,
    conditions: claims(report).map((claim) => {
      const old = before(claim.type);
      const lastTransitionTime = old?.status === claim.status ? (old.lastTransitionTime ?? time) : time;
      return { ...claim, lastHeartbeatTime: time, lastTransitionTime };
    }),
    addresses: [
      { type: 'InternalIP', address },
      { type: 'Hostname', address: flags.nodeName },
    ],
    nodeInfo: {
      operatingSystem: 'darwin',
      architecture: 'arm64',
      kubeletVersion: version,
      containerRuntimeVersion: 'tart://2.32.1',
      osImage: 'macOS',
      kernelVersion: '25.0.0',
      machineID: flags.nodeName,
      systemUUID: flags.nodeName,
      bootID: flags.nodeName,
      kubeProxyVersion: '',
    },
  };
};
