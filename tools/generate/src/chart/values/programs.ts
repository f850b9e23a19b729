import { choice, flag, group, integer, object, objects, stringList, stringMap, text, type Value } from './value.ts';

const cpu = { pattern: '^[0-9]+(\\.[0-9]+|m)?$' } as const;

interface ProgramOptions {
  readonly replicas: number;
  /** Memory: description, defaults, maximum in words, and a pattern for the allowed quantities. */
  readonly memory: {
    readonly why: string;
    readonly request: string;
    readonly limit: string;
    readonly most: string;
    readonly pattern: string;
  };
  /** Page with the flags of the program. */
  readonly flags: string;
  /** What the program uses GitHub for. */
  readonly github: string;
}

/** Values common to the programs that run in the cluster. The image is that of `provider`. */
const program = ({ replicas, memory, flags, github }: ProgramOptions): Readonly<Record<string, Value>> => ({
  replicas: integer('Number of replicas. One leads, the others are standby.', replicas, { minimum: 1 }),
  resources: group(memory.why, {
    requests: group('Resource requests.', {
      cpu: text('CPU request.', '50m', cpu),
      memory: text('Memory request.', memory.request, { pattern: memory.pattern }),
    }),
    limits: group('Resource limits. A CPU limit is not allowed: throttling would delay lease renewals.', {
      memory: text(`Memory limit, at most ${memory.most}.`, memory.limit, { pattern: memory.pattern }),
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
    // Less is not enough for a rollout; more points to a leak.
    memory: {
      why: 'Resources. The manager needs at most 160 MB while it updates 16 Macs at once (`npm run bench -- roll-memory`), and 180 MB in a cluster with 20,000 other Pods (`npm run bench -- foreign-pods`).',
      request: '192Mi',
      limit: '256Mi',
      most: '512Mi',
      pattern: '^(12[89]|1[3-9][0-9]|[234][0-9][0-9]|50[0-9]|51[0-2])Mi$',
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
        most: '256Mi',
        pattern: '^(9[6-9]|1[0-9][0-9]|2[0-4][0-9]|25[0-6])Mi$',
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
