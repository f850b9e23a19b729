import { choice, flag, group, object, objects, text, texts, type Value, whole, words } from './value.ts';

const cpu = { pattern: '^[0-9]+(\\.[0-9]+|m)?$' } as const;

interface Particulars {
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
export const program = ({ replicas, memory, flags, github }: Particulars): Readonly<Record<string, Value>> => ({
  replicas: whole('Number of replicas. One leads, the others are standby.', replicas, { minimum: 1 }),
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
  extraArgs: texts(
    `Additional flags (docs/reference/${flags}). They are appended; if a flag is given twice, the last one counts.`,
    [],
  ),
  extraEnv: objects('Additional environment variables, as in a Pod. Secrets only with `valueFrom`.', []),
  nodeSelector: words('Node selector of the Pods.', { 'kubernetes.io/os': 'linux' }),
  tolerations: objects('Tolerations of the Pods.', []),
  affinity: object('Affinity of the Pods. Empty: anti-affinity between replicas.', {}),
  priorityClassName: text('Priority class of the Pods.', ''),
  podAnnotations: words('Annotations of the Pods.', {}),
  podLabels: words('Labels of the Pods.', {}),
  scrapeAnnotations: flag('Add the annotations `prometheus.io/scrape`, `port` and `path` to the Pods.', true),
});
