/**
 * All names that other programs know: on objects in Kubernetes, on servers at Scaleway, on Macs, in metrics and on command lines. They are
 * those of the original system, so that its fleets can be adopted: never rename one.
 */

const infrastructure = { group: 'infrastructure.cluster.x-k8s.io', version: 'v1alpha1' } as const;
const controlPlane = { group: 'controlplane.cluster.x-k8s.io', version: 'v1alpha1' } as const;
const tuist = { group: 'tuist.dev', version: 'v1alpha1' } as const;

export interface KindNames {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
  /** Cluster API does not look it up but derives it from the kind (lower case, `s`). */
  readonly plural: string;
  readonly singular: string;
  readonly shortNames: readonly string[];
  readonly namespaced: boolean;
}

const named = <Kind extends string>(
  kind: Kind,
  shortName: string,
): Omit<KindNames, 'group' | 'version' | 'namespaced'> & { kind: Kind } => ({
  kind,
  plural: `${kind.toLowerCase()}s`,
  singular: kind.toLowerCase(),
  shortNames: [shortName],
});

export const kindNames = {
  machine: { ...infrastructure, ...named('ScalewayAppleSiliconMachine', 'samm'), namespaced: true },
  machineTemplate: { ...infrastructure, ...named('ScalewayAppleSiliconMachineTemplate', 'sammt'), namespaced: true },
  cluster: { ...infrastructure, ...named('ScalewayAppleSiliconCluster', 'sasc'), namespaced: true },
  controlPlane: { ...controlPlane, ...named('ExternalControlPlane', 'ecp'), namespaced: true },
  macHost: { ...infrastructure, ...named('MacHost', 'mac'), namespaced: false },
  macFleet: { ...infrastructure, ...named('MacFleet', 'fleet'), namespaced: true },
  runnerPool: { ...tuist, ...named('RunnerPool', 'rpool'), namespaced: true },
} as const satisfies Record<string, KindNames>;

export const finalizers = {
  machine: 'scalewayapplesilicon.cluster.x-k8s.io/finalizer',
  /** On Pods, by the agent. */
  vmCleanup: 'tart-kubelet.tuist.dev/vm-cleanup',
  runnerPool: 'tuist.dev/runner-pool-drain',
} as const;

export const labels = {
  /** On Nodes, Machines and MachineDeployments. */
  fleet: 'tuist.dev/fleet',
  /** On Nodes; its value is `tart`. */
  runtime: 'tuist.dev/runtime',
  os: 'kubernetes.io/os',
  managedBy: 'tuist.dev/managed-by',
  machine: 'tuist.dev/machine',
  component: 'app.kubernetes.io/component',
  /** Cluster API; core ignores a kubeconfig Secret without it. */
  clusterName: 'cluster.x-k8s.io/cluster-name',
  /** On runner Pods; `true`. */
  runner: 'tuist.dev/runner',
  runnerPool: 'tuist.dev/runner-pool',
} as const;

export const labelValues = {
  runtime: 'tart',
  os: 'darwin',
  managedBy: 'capi-scaleway-applesilicon',
  component: 'tart-kubelet',
} as const;

export const annotations = {
  /** On the Secret of a fleet's SSH key: the id of the key at Scaleway. */
  sshKeyID: 'scaleway.tuist.dev/ssh-key-id',
  /** On the Secret of a machine: the server that its password and host key belong to. */
  serverID: 'scaleway.tuist.dev/server-id',
  /** On the Secret of a machine: the UID of that machine. A Secret with another UID belongs to another machine. */
  machineUID: 'scaleway.tuist.dev/machine-uid',
  /** On MacHosts: the last machine deleted while it had reserved the Mac but not claimed it. Only the write matters: it changes the version. */
  reservationEnded: 'tuist.dev/reservation-ended',
  /** On MacHosts, by a user: the manager does nothing to the Mac while it is set. Its value says why. */
  abandon: 'tuist.dev/abandon',
  /** On Nodes that the manager cordoned for a rollout, so that it removes only its own cordon: the wanted summary. */
  cordonedForRoll: 'tuist.dev/cordoned-for-roll',
  /** On the Pod template of the Deployment that FleetSpread manages. */
  fleetHash: 'tuist.dev/fleet-hash',
  /** On Nodes, by the agent: the summary of all steps of its Mac. */
  hostConfigHash: 'tuist.dev/host-config-hash',
  /** On Nodes, by the agent: its version. */
  agentVersion: 'tuist.dev/agent-version',
  /** On the Secret of a kubeconfig that we wrote: the subject and the expiry of its token. */
  kubeconfigToken: 'tuist.dev/kubeconfig-token',
  /** On runner Pods and their Secrets: the ID of the runner at GitHub. */
  runnerID: 'tuist.dev/runner-id',
  /** On runner Pods: since when the runner is removed at GitHub, so that it gets no job. */
  runnerRetired: 'tuist.dev/runner-retired',
  /** On runner Pods: GitHub showed the runner as offline when it was retired. */
  runnerRetiredOffline: 'tuist.dev/runner-retired-offline',
  /** On MachineDeployments, by the author of the MacFleet beside them: the revision as which they were written. */
  machinesRevision: 'tuist.dev/machines-revision',
  /** On MachineDeployments: the `spec.replicas` of the MacFleet that was last written to `spec.replicas`, or that was found at first. */
  appliedReplicas: 'tuist.dev/applied-replicas',
  /** On MachineDeployments, by the chart: their initial number of machines. It never changes. */
  initialReplicas: 'tuist.dev/initial-replicas',
  /** On MachineDeployments: their autoscaler sizes exist only for core's webhook, and are removed together with this. */
  heldReplicas: 'tuist.dev/held-replicas',
  /** Cluster API and cluster-autoscaler, on MachineDeployments. */
  autoscalerMinSize: 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-min-size',
  autoscalerMaxSize: 'cluster.x-k8s.io/cluster-api-autoscaler-node-group-max-size',
  /** helm, on objects that it has applied itself; not on objects that GitOps tools apply from `helm template`. */
  helmRelease: 'meta.helm.sh/release-name',
  /** Cluster API. Any value counts. */
  paused: 'cluster.x-k8s.io/paused',
  /** Cluster API: `clusterctl move` aborts when it finds it. Any value counts. */
  blockMove: 'clusterctl.cluster.x-k8s.io/block-move',
  /** Cluster API: another controller manages this object. */
  externallyManaged: 'cluster.x-k8s.io/managed-by',
} as const;

/** Keeps Pods that are not meant for Macs away. */
export const macTaint = { key: 'tuist.dev/macos', value: 'true', effect: 'NoSchedule' } as const;

/**
 * A condition of Nodes, by the agent: whether virtual machines start on the Mac. While it is False the manager taints the Node, so that no
 * further Pods are scheduled; running Pods are not affected.
 */
export const vmStartCondition = 'VMStart';
export const vmStartTaint = { key: 'tuist.dev/vm-start-failure', effect: 'NoSchedule' } as const;

/**
 * With the first two, managers of either contract read a CRD; the value is the version that they use. `clusterctl move` sees only objects
 * whose CRD has the third. Otherwise it would move their owners without them: they would be deleted, and the Macs wiped.
 */
export const contractLabels = {
  'cluster.x-k8s.io/v1beta1': infrastructure.version,
  'cluster.x-k8s.io/v1beta2': infrastructure.version,
  'clusterctl.cluster.x-k8s.io': '',
} as const;

/** The names of servers at Scaleway, the only mark that can be set on one. A held server has the name of its machine. */
export const serverNames = {
  defaultPoolPrefix: 'tuist-pool-',
  /** Used by the original system while it claims. Recognised, but not written any more. */
  claimPendingPrefix: 'tuist-claim-pending-',
  /** Not wiped yet: no machine may claim it. */
  releasingPrefix: 'tuist-releasing-',
} as const;

export const secretKeys = {
  fleetSSH: { privateKey: 'id_ed25519', publicKey: 'id_ed25519.pub' },
  machine: { sudoPassword: 'sudo-password', username: 'ssh-username', hostFingerprint: 'host-fingerprint' },
  githubApp: { appID: 'app-id', installationID: 'installation-id', privateKey: 'private-key' },
  kubeconfig: 'value',
  tailscale: { authKey: 'auth-key' },
  runner: { jitConfig: 'jitconfig' },
} as const;

export const secretNames = {
  fleetSSH: (fleet: string): string => `${fleet}-ssh`,
  machine: (machine: string): string => `${machine}-bootstrap`,
  kubeconfig: (cluster: string): string => `${cluster}-kubeconfig`,
  /** The credentials of a runner. It has the name of its Pod, which owns it. */
  runner: (pod: string): string => pod,
} as const;

/** The type of Cluster API's own Secrets. */
export const clusterSecretType = 'cluster.x-k8s.io/secret';

/** The ServiceAccount as which Cluster API core connects to the cluster it runs in. */
export const remoteServiceAccount = 'capi-remote';

export const leaderElectionID = 'scaleway-applesilicon.infrastructure.cluster.x-k8s.io';
export const runnersLeaderElectionID = 'runners-controller.tuist.dev';

export const macNames = {
  agentJob: 'dev.tuist.tart-kubelet',
  pfAnchor: 'tuist.runners',
} as const;

/** Names that guests and their programs know. */
export const guestNames = {
  /** Below `/Volumes/My Shared Files`. A guest can write only to `status`. Only runner Pods have `runner`. */
  shares: { env: 'env', status: 'status', runner: 'runner' },
  /** In `env`. */
  variables: 'tuist.env',
  token: 'sa_token',
  /** In `status`, by the guest. */
  result: 'runner-rc',
  log: 'runner.log',
  /** If present: the runner has started, and will report when a job begins. Before that it is unknown. */
  ready: 'runner-ready',
  /** If present: a job has begun. It is never removed. */
  jobStarted: 'job-started',
  /** In `runner`. */
  jitConfig: 'jitconfig',
} as const;

/** Variables of a runner Pod, for the program in its guest. */
export const runnerVariables = {
  pool: 'TUIST_RUNNER_POOL',
  podName: 'TUIST_RUNNER_POD_NAME',
  podUID: 'TUIST_RUNNER_POD_UID',
  idleTimeoutSeconds: 'TUIST_RUNNER_IDLE_TIMEOUT_SECONDS',
  printLog: 'ACTIONS_RUNNER_PRINT_LOG_TO_STDOUT',
} as const;

/**
 * A condition of runner Pods, by the agent: whether the guest has a job. Its reasons are in `reasons/states.ts`. Without it, and
 * while it is Unknown, the guest may have a job.
 */
export const runnerBusyCondition = 'tuist.dev/RunnerBusy';

/** Of the token with which a runner authenticates for dispatch: it is valid for nothing else (INC-70). */
export const dispatchAudience = 'tuist-runners-dispatch';

export const metricNames = {
  orphanServers: 'scaleway_orphan_servers',
  orphanServersReclaimed: 'scaleway_orphan_servers_reclaimed_total',
  zoneListErrors: 'scaleway_zone_list_errors_total',
  machinePhase: 'capt_scaleway_applesilicon_machine_phase',
  machineFailedAttempts: 'capt_scaleway_applesilicon_machine_failed_attempts',
  machineDriftSeconds: 'capt_scaleway_applesilicon_machine_drift_seconds',
  machineBootstrapSeconds: 'capt_scaleway_applesilicon_machine_bootstrap_seconds',
  fleetMachines: 'capt_scaleway_applesilicon_fleet_machines',
  fleetTurns: 'capt_scaleway_applesilicon_fleet_turns',
  fleetStalled: 'capt_scaleway_applesilicon_fleet_stalled',
  macHosts: 'scaleway_mac_hosts',
  podsReaped: 'tart_pods_reaped_total',
  scalewayRequests: 'scaleway_api_requests_total',
  scalewayRequestSeconds: 'scaleway_api_request_duration_seconds',
  scalewayWaitSeconds: 'scaleway_api_rate_limiter_duration_seconds',
  scalewayNotSent: 'scaleway_api_requests_not_sent_total',
  podsTerminating: 'tart_pods_terminating',
  podsTerminatingSeconds: 'tart_pods_oldest_terminating_seconds',
  controlPlaneCondition: 'capt_external_control_plane_condition',
  kubeconfigExpiry: 'capt_external_control_plane_kubeconfig_expiry_timestamp_seconds',
} as const;

/** Of the runners controller. Those of `pool` have the labels `namespace` and `pool`. */
export const runnerMetricNames = {
  pods: 'tuist_runners_pool_pods',
  wantedReplicas: 'tuist_runners_pool_wanted_replicas',
  stalePods: 'tuist_runners_pool_stale_pods',
  rollingPods: 'tuist_runners_pool_rolling_pods',
  rollConcurrencyCap: 'tuist_runners_pool_roll_concurrency_cap',
  oldestUnbootedSeconds: 'tuist_runners_pool_oldest_pending_pod_age_seconds',
  oldestTerminatingSeconds: 'tuist_runners_pool_oldest_terminating_pod_age_seconds',
  reaped: 'tuist_runners_pool_reaped_total',
  unreachable: 'tuist_runners_pool_unreachable_total',
  runSeconds: 'tuist_runners_pool_run_seconds',
  queuedJobs: 'tuist_runners_pool_queued_jobs',
  oldestQueuedSeconds: 'tuist_runners_pool_oldest_queued_job_age_seconds',
  condition: 'tuist_runners_pool_condition',
  githubRequests: 'tuist_runners_github_requests_total',
  githubRateRemaining: 'tuist_runners_github_rate_limit_remaining',
} as const;

/** Followed by the hash of an image: a Mac with this label has a golden base of it. */
export const goldenLabelPrefix = 'tuist.dev/golden-';

/** Of the agent on each Mac. The first six are those of the original system. */
export const agentMetricNames = {
  vmBootSeconds: 'tart_kubelet_vm_boot_duration_seconds',
  podProvisionDelaySeconds: 'tart_kubelet_pod_provision_delay_seconds',
  vmProvisionWorkSeconds: 'tart_kubelet_vm_provision_work_seconds',
  goldenBaseMaterialized: 'tart_kubelet_golden_base_materialized_total',
  goldenBaseReused: 'tart_kubelet_golden_base_reused_total',
  guestDiskUsagePercent: 'tart_kubelet_guest_disk_usage_percent',
  oldestWaitingPodSeconds: 'tart_kubelet_oldest_waiting_pod_age_seconds',
  vmSlots: 'tart_kubelet_vm_slots',
  vmSlotsTaken: 'tart_kubelet_vm_slots_taken',
  vmStartRefused: 'tart_kubelet_vm_start_refused',
  imagePullsUnderWay: 'tart_kubelet_image_pulls_under_way',
  collected: 'tart_kubelet_collected_total',
  certificateStart: 'tart_kubelet_certificate_not_before_timestamp_seconds',
  certificateEnd: 'tart_kubelet_certificate_not_after_timestamp_seconds',
} as const;

export const managerFlags = {
  machineMaxConcurrentReconciles: '--machine-max-concurrent-reconciles',
  orphanReclaimZones: '--orphan-reclaim-zones',
  orphanReclaimClaimNamePrefix: '--orphan-reclaim-claim-name-prefix',
  defaultAdoptPoolPrefix: '--default-adopt-pool-prefix',
  adoptPoolPrefixes: '--adopt-pool-prefixes',
  apiServerURL: '--api-server-url',
  releaseID: '--release-id',
} as const;
