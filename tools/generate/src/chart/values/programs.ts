import {
  choice,
  flag,
  group,
  integer,
  object,
  objects,
  quantityOrEmpty,
  stringList,
  stringMap,
  text,
  type Value,
} from './value.ts';

interface ProgramOptions {
  readonly replicas: number;
  readonly memory: { readonly why: string; readonly request: string; readonly limit: string };
  /** Page with the flags of the program. */
  readonly flags: string;
  /** What the program uses GitHub for. */
  readonly github: string;
}

/** Values common to the programs that run in the cluster. The image is that of `provider`. */
const program = ({ replicas, memory, flags, github }: ProgramOptions): Readonly<Record<string, Value>> => ({
  replicas: integer('Number of replicas. One leads, the others are standby.', replicas, { minimum: 1 }),
  resources: group(memory.why, {
    requests: group('Resource requests. Empty: none.', {
      cpu: quantityOrEmpty('CPU request.', '50m'),
      memory: quantityOrEmpty('Memory request.', memory.request),
    }),
    limits: group('Resource limits. Empty: none.', {
      cpu: quantityOrEmpty('CPU limit. Best left empty: throttling delays lease renewals, and the leader changes.', ''),
      memory: quantityOrEmpty(
        'Memory limit. The default has room beyond what was measured. If the program needs far more, please report a leak.',
        memory.limit,
      ),
    }),
  }),
  logLevel: choice('Minimum log level.', 'info', ['debug', 'info', 'warn', 'error']),
  githubApiUrl: text(`URL of the GitHub API, for ${github}. Empty: https://api.github.com.`, '', {
    pattern: '^(https://[^/]+(/.*[^/])?)?$',
  }),
  extraArgs: stringList(
    `Additional flags (docs/reference/${flags}). They are appended; if a flag is given twice, the last one counts.`,
    [],
  ),
  extraEnv: objects('Additional environment variables, as in a Pod. Secrets only with `valueFrom`.', []),
  nodeSelector: stringMap('Node selector of the Pods.', { 'kubernetes.io/os': 'linux' }),
  tolerations: objects('Tolerations of the Pods.', []),
  affinity: object('Affinity of the Pods. Empty: anti-affinity between replicas.', {}),
  priorityClassName: text('Priority class of the Pods.', ''),
  podAnnotations: stringMap('Annotations of the Pods.', {}),
  podLabels: stringMap('Labels of the Pods.', {}),
  scrapeAnnotations: flag('Add the annotations `prometheus.io/scrape`, `port` and `path` to the Pods.', true),
});

export const provider = group('The provider (the manager Deployment), which manages the Macs.', {
  image: group('Image of the provider. It also contains the runners controller and all software for Macs.', {
    repository: text('Repository of the image.', 'tartan', { minLength: 1 }),
    tag: text('Tag of the image. Empty: the app version of the chart.', ''),
    pullPolicy: choice('Image pull policy.', 'IfNotPresent', ['Always', 'IfNotPresent', 'Never']),
    pullSecrets: stringList('Names of pull secrets.', []),
  }),
  ...program({
    replicas: 2,
    memory: {
      why: 'Resources. The manager needs at most 160 MB while it updates 16 Macs at once (`npm run bench -- roll-memory`), and 180 MB in a cluster with 20,000 other Pods (`npm run bench -- foreign-pods`).',
      request: '192Mi',
      limit: '256Mi',
    },
    flags: 'provider-flags.md',
    github: 'the runners of builders',
  }),
});

export const runnersController = group(
  'The runners controller, which manages RunnerPools: GitHub Actions runners, each a VM for one job. Pools are in the namespace of the release.',
  {
    enabled: flag(
      'Run the runners controller. Delete all pools and wait before you disable it: without it, pools cannot be deleted.',
      false,
    ),
    ...program({
      replicas: 1,
      memory: {
        why: 'Resources. The caches hold the runner Pods of one namespace, and the Nodes.',
        request: '128Mi',
        limit: '256Mi',
      },
      flags: 'runners-flags.md',
      github: 'the runners of pools',
    }),
    stuckAfterSeconds: integer(
      'After this time a starting or terminating Pod counts as stuck, and a runner that is offline at GitHub is retired.',
      600,
      { minimum: 10, maximum: 86_400 },
    ),
  },
);
