import type { RequestLimits } from '../client/request-limiter.ts';
import { defaultElectionDurations, durationsProblem, type ElectionDurations } from '../leader/durations.ts';
import type { LoggerOptions } from '../logs/logger.ts';
import { flag, type FlagRule, optional, type ReadFlag } from './flag.ts';
import { type BindAddress, bindAddress } from './network-types.ts';
import { anyPath, bool, duration, formatDuration, integer, namespaceName, oneOf } from './value-types.ts';

/** Flags of every program that runs controllers, their constraints, and their parsed values. */

const day = 24 * 3_600_000;

export const bindAddressFlags = {
  metricsBindAddress: flag('metrics-bind-address', {
    type: bindAddress,
    default: { host: '', port: 8080 },
    help: 'Where /metrics is served, over plain HTTP. 0 serves none.',
  }),
  healthProbeBindAddress: flag('health-probe-bind-address', {
    type: bindAddress,
    default: { host: '', port: 8081 },
    help: 'Where /healthz and /readyz are served. 0 serves none.',
  }),
};

/** `namespace`: how the namespace of the lease is configured. */
export const leaderElectionFlags = (namespace: { readonly env?: string; readonly help: string }) => ({
  leaderElect: flag('leader-elect', {
    type: bool,
    default: true,
    help: 'Work only while holding the lease, so that a second replica can stand by. Turn it off only where there can be no second one.',
  }),
  leaderElectionNamespace: flag('leader-election-namespace', {
    type: optional(namespaceName),
    default: undefined,
    ...namespace,
  }),
  leaderElectLeaseDuration: flag('leader-elect-lease-duration', {
    type: duration({ fromMs: 1_000, toMs: day }),
    default: defaultElectionDurations.leaseMs,
    help: 'How long others leave the lease alone when its holder has fallen silent. Whole seconds.',
  }),
  leaderElectRenewDeadline: flag('leader-elect-renew-deadline', {
    type: duration({ fromMs: 100, toMs: day }),
    default: defaultElectionDurations.renewDeadlineMs,
    help: 'How long after its last renewal a leader goes on.',
  }),
  leaderElectRetryPeriod: flag('leader-elect-retry-period', {
    type: duration({ fromMs: 100, toMs: day }),
    default: defaultElectionDurations.retryPeriodMs,
    help: 'Between two tries to get the lease or to renew it.',
  }),
});

export const logFlags = {
  logLevel: flag('log-level', {
    type: oneOf(['debug', 'info', 'warn', 'error']),
    default: 'info',
    help: 'Lines below this level are not written. At debug, errors come with their stacks.',
  }),
  logFormat: flag('log-format', {
    type: oneOf(['json', 'text']),
    default: 'json',
    help: 'One line of JSON each for a collector of logs, or text for a person at a terminal.',
  }),
};

export const kubeconfigFlag = flag('kubeconfig', {
  type: optional(anyPath),
  default: undefined,
  help: 'Which cluster to work in, and as whom. Without it: KUBECONFIG, then the cluster whose Pod this is, then ~/.kube/config.',
});

/**
 * A manager that starts with 5,000 machines reconciles each with about 3 requests: 15,000, or 150 s at 100 a second. 50 in flight keep that
 * rate with answers of 0.5 s. API Priority and Fairness queues up to 300 requests of one user (`workload-low`: 6 queues of 50), so 50 are
 * never refused while the server has its default configuration.
 */
export const requestLimitFlags = {
  kubeAPIQPS: flag('kube-api-qps', {
    type: integer({ from: 1, to: 10_000 }),
    default: 100,
    help: 'Requests per second to the API server, on average. Controllers take turns. Leader election is not limited.',
  }),
  kubeAPIBurst: flag('kube-api-burst', {
    type: integer({ from: 1, to: 10_000 }),
    default: 200,
    help: 'Requests to the API server at once after a quiet time.',
  }),
  kubeAPIMaxInFlight: flag('kube-api-max-in-flight', {
    type: integer({ from: 1, to: 1_000 }),
    default: 50,
    help: 'Requests that wait for an answer of the API server at the same time. Running watches do not count.',
  }),
};

type ManagerFlags = typeof bindAddressFlags &
  typeof requestLimitFlags &
  ReturnType<typeof leaderElectionFlags> &
  typeof logFlags & { readonly kubeconfig: typeof kubeconfigFlag };

export const managerRules = (flags: ManagerFlags): readonly FlagRule[] => [
  {
    description:
      'A leader stops before another may start, and can miss one renewal: the lease lasts longer than the renew deadline, and that longer than 1.2 retry periods.',
    reads: [flags.leaderElectLeaseDuration, flags.leaderElectRenewDeadline, flags.leaderElectRetryPeriod],
    problem: (read) => {
      const durations = durationsOf(flags, read);
      const problem = durationsProblem(durations);
      const { leaseMs, renewDeadlineMs, retryPeriodMs } = durations;
      return problem === undefined
        ? undefined
        : `--leader-elect-lease-duration ${formatDuration(leaseMs)}, --leader-elect-renew-deadline ${formatDuration(renewDeadlineMs)} and ` +
            `--leader-elect-retry-period ${formatDuration(retryPeriodMs)}: ${problem}. Kubernetes uses 15s, 10s and 2s.`;
    },
  },
  {
    description: 'Metrics and probes listen on different ports.',
    reads: [flags.metricsBindAddress, flags.healthProbeBindAddress],
    problem: (read) => {
      const port = read(flags.metricsBindAddress)?.port;
      return port !== undefined && port !== 0 && port === read(flags.healthProbeBindAddress)?.port
        ? `--metrics-bind-address and --health-probe-bind-address both take port ${port}. Change one of them.`
        : undefined;
    },
  },
];

const durationsOf = (flags: ManagerFlags, read: ReadFlag): ElectionDurations => ({
  leaseMs: read(flags.leaderElectLeaseDuration),
  renewDeadlineMs: read(flags.leaderElectRenewDeadline),
  retryPeriodMs: read(flags.leaderElectRetryPeriod),
});

/** `undefined` means disabled. */
export interface ManagerFlagValues {
  readonly kubeconfigPath: string | undefined;
  readonly metricsAddress: BindAddress | undefined;
  readonly healthAddress: BindAddress | undefined;
  readonly leaderElection: { readonly namespace: string; readonly durations: Readonly<ElectionDurations> } | undefined;
  readonly requestLimits: Readonly<RequestLimits>;
  readonly log: Required<Pick<LoggerOptions, 'level' | 'pretty'>>;
}

/** `namespace`: the lease's default namespace. */
export const managerFlagValues = (flags: ManagerFlags, read: ReadFlag, namespace: string): ManagerFlagValues => ({
  kubeconfigPath: read(flags.kubeconfig),
  metricsAddress: read(flags.metricsBindAddress),
  healthAddress: read(flags.healthProbeBindAddress),
  leaderElection: read(flags.leaderElect)
    ? { namespace: read(flags.leaderElectionNamespace) ?? namespace, durations: durationsOf(flags, read) }
    : undefined,
  requestLimits: {
    qps: read(flags.kubeAPIQPS),
    burst: read(flags.kubeAPIBurst),
    maxInFlight: read(flags.kubeAPIMaxInFlight),
  },
  log: { level: read(flags.logLevel), pretty: read(flags.logFormat) === 'text' },
});
