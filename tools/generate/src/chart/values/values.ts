import { defaultPool, fleet } from './fleet.ts';
import { provider, runnersController } from './programs.ts';
import { choice, flag, group, nameOrEmpty, objectOrEmpty, stringList, stringMap, text, type Value } from './value.ts';

const externalSecrets = group('Read the kubeconfig from a secret store with External Secrets.', {
  enabled: flag('Use External Secrets. If false, the provider creates the kubeconfig and renews its token.', false),
  refreshInterval: text('How often External Secrets reads the store.', '1h', { pattern: '^[0-9]+[smh]$' }),
  item: text('Item in the store.', 'capi-workload-kubeconfig', { minLength: 1 }),
  field: text('Field of the item.', 'kubeconfig'),
  storeRef: group('The secret store.', {
    kind: choice('Kind of the store: for all namespaces, or for one.', 'ClusterSecretStore', [
      'ClusterSecretStore',
      'SecretStore',
    ]),
    name: text('Name of the store.', 'onepassword', { minLength: 1 }),
  }),
});

const capi = group('Cluster API core, which must already be installed.', {
  enabled: flag(
    'If false, the chart renders nothing: for clusters without Cluster API. Scale all fleets to 0 and wait before you disable it.',
    true,
  ),
  server: text(
    'Server address in the kubeconfig of Cluster API core. Empty: the address of the Service `kubernetes`.',
    '',
    {
      pattern: '^(https://.+)?$',
    },
  ),
  remoteKubeconfig: group('The kubeconfig of Cluster API core, in the Secret `<release>-capi-kubeconfig`.', {
    externalSecrets,
  }),
});

const tailscale = group('Tailscale on the Macs.', {
  enabled: flag('Macs join a tailnet.', false),
  secretName: text('Secret with the auth key, in the key `auth-key`.', '', objectOrEmpty),
  tags: stringList('Tags of the Macs; each begins with `tag:`.', [], {
    items: { type: 'string', pattern: '^tag:[A-Za-z][-A-Za-z0-9]*$' },
  }),
  acceptRoutes: flag('Macs accept the routes that other devices advertise.', false),
  nodeExporter: flag('Macs run node_exporter, which listens on the tailnet only.', true),
});

const builders = {
  ghOrg: text('GitHub organisation that the builders register with.', ''),
  ghRunnerLabels: text(
    "Runner labels, separated by commas. One of them must name the environment: builders with the same labels take each other's jobs.",
    '',
  ),
  ghAppSecretName: text(
    'Secret with `app-id`, `installation-id` and `private-key` of a GitHub App.',
    '',
    objectOrEmpty,
  ),
};

const orphanReclaim = group('Stranded servers: named after a machine that no longer exists.', {
  activeReclaim: flag(
    'Wipe stranded servers whose names begin with `<fullname>-` and return them to the pool. If false, they are only reported. Do not enable it if another cluster shares the Scaleway project.',
    false,
  ),
});

/** All values, in reading order. */
export const values: Readonly<Record<string, Value>> = {
  fullnameOverride: text(
    'Prefix of all names. Empty: the release name, with `-tartan` appended unless it contains `tartan`.',
    '',
    nameOrEmpty,
  ),
  provider,
  scaleway: group('The Scaleway API key.', {
    secretName: text(
      'Secret with the keys SCW_ACCESS_KEY, SCW_SECRET_KEY and SCW_DEFAULT_PROJECT_ID. A new API key in it is used within about two minutes, without a restart.',
      'tartan-scaleway',
      { minLength: 1 },
    ),
  }),
  apiServerURL: text(
    'URL at which Macs reach the API server. Empty: the URL in the ConfigMap kube-public/cluster-info.',
    '',
    {
      pattern: '^(https://.+)?$',
    },
  ),
  macosFleet: fleet('macos', 'Macs for general use.', {
    replicas: 1,
    adoptPoolPrefix: defaultPool,
    more: { orphanReclaim },
  }),
  runnersFleet: fleet('runners', 'Macs for CI runners.', { replicas: 0 }),
  buildersFleet: fleet(
    'builders',
    'Macs that build VM images. The GitHub runner is on the Mac itself, and they run no Pods.',
    {
      replicas: 0,
      more: builders,
    },
  ),
  runnersController,
  capi,
  crds: group('CRDs of Tartan. The first installation always installs them.', {
    upgrade: flag('Run a Job that updates the CRDs before each installation and upgrade.', true),
    dropFields: flag(
      'Allow the Job to install CRDs that lack fields of the present ones. Data in those fields is lost.',
      false,
    ),
  }),
  uninstall: group('Checks before `helm uninstall`.', {
    guard: flag(
      'Refuse `helm uninstall` while machines exist or Macs are being released. Without a manager, no Mac is wiped.',
      true,
    ),
  }),
  joinBinding: group('Permission of joining Macs to request a certificate.', {
    create: flag('Create the ClusterRoleBinding. One per cluster is enough.', true),
  }),
  tailscale,
  vmClusterEgress: group('Cluster networks that VMs can reach. Set both values or none.', {
    kuraServiceCIDR: text('Private network that VMs can reach on TCP port 4000.', ''),
    clusterDNSIP: text('Address of the DNS server of the cluster.', ''),
  }),
  fleetSpread: group(
    'A Deployment that the provider restarts when the set of Ready Macs changes, so that its Pods spread over them.',
    {
      deployment: text('Name of the Deployment. Empty: none.', '', objectOrEmpty),
      namespace: text('Namespace of the Deployment. Empty: the namespace of the release.', '', nameOrEmpty),
    },
  ),
  alerts: group('Alerts for the Prometheus operator (PrometheusRule).', {
    enabled: flag('Create the alerts.', false),
    labels: stringMap('Labels of the PrometheusRule, for the rule selector of Prometheus.', {}),
    runbookBaseURL: text(
      'Absolute URL of the folder that contains `docs/`, with a slash at the end. Each alert then has a `runbook_url` below it. Empty: alerts have no `runbook_url`.',
      '',
      { pattern: '^(https?://.+/)?$' },
    ),
  }),
  serviceMonitor: group('ServiceMonitors of the provider and the runners controller, for the Prometheus operator.', {
    enabled: flag('Create a ServiceMonitor and a Service for each.', false),
    labels: stringMap('Labels of the ServiceMonitors, for the selector of Prometheus.', {}),
    interval: text('Scrape interval.', '30s', { pattern: '^[0-9]+(ms|s|m|h)$' }),
  }),
};
