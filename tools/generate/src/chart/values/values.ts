import { fleet, poolOfAll } from './fleet.ts';
import { provider } from './provider.ts';
import { runnersController } from './runners-controller.ts';
import { choice, flag, group, nameOrEmpty, objectOrEmpty, text, texts, type Value, words } from './value.ts';

const externalSecrets = group('Keep the kubeconfig in a secret store, from where External Secrets brings it.', {
  enabled: flag(
    'Whether to do so. Otherwise the provider makes the kubeconfig, and replaces its token in time.',
    false,
  ),
  refreshInterval: text('How often External Secrets looks.', '1h', { pattern: '^[0-9]+[smh]$' }),
  item: text('The item in the store.', 'capi-workload-kubeconfig', { minLength: 1 }),
  field: text('The field of the item.', 'kubeconfig'),
  storeRef: group('The store.', {
    kind: choice('Of one namespace or of all.', 'ClusterSecretStore', ['ClusterSecretStore', 'SecretStore']),
    name: text('Its name.', 'onepassword', { minLength: 1 }),
  }),
});

const capi = group('Cluster API core, which must be installed already.', {
  enabled: flag(
    'With false nothing is rendered: for clusters without Cluster API. Scale fleets to 0 and wait before you switch it off.',
    true,
  ),
  server: text('The address in the kubeconfig that core connects with. Empty: that of the Service `kubernetes`.', '', {
    pattern: '^(https://.+)?$',
  }),
  remoteKubeconfig: group('The kubeconfig that core connects with, `<release>-capi-kubeconfig`.', { externalSecrets }),
});

const tailscale = group('A tailnet that Macs join.', {
  enabled: flag('Whether they do.', false),
  secretName: text('A Secret whose key `auth-key` holds what they join with.', '', objectOrEmpty),
  tags: texts('Their tags, each beginning with `tag:`.', [], {
    items: { type: 'string', pattern: '^tag:[A-Za-z][-A-Za-z0-9]*$' },
  }),
  acceptRoutes: flag('Whether they take the routes that other devices offer.', false),
  nodeExporter: flag('Whether they run node_exporter, which listens on the tailnet only.', true),
});

const builders = {
  ghOrg: text('The GitHub organisation that they register with.', ''),
  ghRunnerLabels: text(
    "Labels, with commas between them. One of them names the environment: builders with the same labels take each other's jobs.",
    '',
  ),
  ghAppSecretName: text(
    'A Secret with `app-id`, `installation-id` and `private-key` of a GitHub App.',
    '',
    objectOrEmpty,
  ),
};

const orphanReclaim = group('Servers that bear the name of a machine that is not there any more.', {
  activeReclaim: flag(
    'Whether those whose names begin with `<fullname>-` are wiped and given back to the pool. Otherwise they are only reported. Never with a Scaleway project that another cluster shares.',
    false,
  ),
});

/** All values, in the order in which people read them. */
export const values: Readonly<Record<string, Value>> = {
  fullnameOverride: text(
    'What all names begin with. Empty: the release, with `-tartan` unless that is in it.',
    '',
    nameOrEmpty,
  ),
  provider,
  scaleway: group('The API key of Scaleway.', {
    secretName: text(
      'The Secret with the keys SCW_ACCESS_KEY, SCW_SECRET_KEY and SCW_DEFAULT_PROJECT_ID.',
      'tartan-scaleway',
      { minLength: 1 },
    ),
  }),
  apiServerURL: text('Where Macs reach the API server. Empty: what kube-public/cluster-info says.', '', {
    pattern: '^(https://.+)?$',
  }),
  macosFleet: fleet('macos', 'Macs for whoever asks.', {
    replicas: 1,
    adoptPoolPrefix: poolOfAll,
    more: { orphanReclaim },
  }),
  runnersFleet: fleet('runners', 'Macs for runners of continuous integration.', { replicas: 0 }),
  buildersFleet: fleet('builders', 'Macs that are runners themselves, without virtual machines: they build images.', {
    replicas: 0,
    more: builders,
  }),
  runnersController,
  capi,
  crds: group('The definitions of our kinds. The first installation brings them in any case.', {
    upgrade: flag('Whether a Job brings them up to date before each installation and upgrade.', true),
    dropFields: flag(
      'Whether it may go back to definitions that lack fields which the present ones have: what objects hold there is lost.',
      false,
    ),
  }),
  uninstall: group('What happens before `helm uninstall`.', {
    guard: flag(
      'Whether it is refused as long as there are machines or Macs on their way back to the pool: without a manager nobody wipes them.',
      true,
    ),
  }),
  joinBinding: group('The right to ask for a certificate, for Macs that join.', {
    create: flag('Whether to make that ClusterRoleBinding. One is enough for a cluster.', true),
  }),
  tailscale,
  vmClusterEgress: group('What virtual machines reach of the cluster. Both or none.', {
    kuraServiceCIDR: text('A private network that is open to them on TCP port 4000.', ''),
    clusterDNSIP: text('The DNS server of the cluster.', ''),
  }),
  fleetSpread: group('A Deployment that is rolled when the set of ready Macs changes, so that its Pods spread.', {
    deployment: text('Its name. Empty: none.', '', objectOrEmpty),
    namespace: text('Its namespace. Empty: that of the release.', '', nameOrEmpty),
  }),
  alerts: group('Alerts for the Prometheus operator (PrometheusRule).', {
    enabled: flag('Whether to make them.', false),
    labels: words('Labels by which Prometheus finds them.', {}),
    runbookBaseURL: text('Where the folder docs is to be seen, for links to the runbook. Ends with a slash.', '', {
      pattern: '^(https?://.+/)?$',
    }),
  }),
  serviceMonitor: group(
    'How the Prometheus operator finds the metrics of the provider, and of the runners controller.',
    {
      enabled: flag('Whether to make a ServiceMonitor for each, and the Service that it needs.', false),
      labels: words('Labels by which Prometheus finds it.', {}),
      interval: text('How often it is scraped.', '30s', { pattern: '^[0-9]+(ms|s|m|h)$' }),
    },
  ),
};
