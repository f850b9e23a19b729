import { choice, flag, group, object, objects, text, texts, type Value, whole, words } from './value.ts';

const cpu = { pattern: '^[0-9]+(\\.[0-9]+|m)?$' } as const;

interface Particulars {
  readonly replicas: number;
  /** What is known of its memory, and how much of it may be asked for: a regular expression, and the most in words. */
  readonly memory: {
    readonly why: string;
    readonly request: string;
    readonly limit: string;
    readonly most: string;
    readonly pattern: string;
  };
  /** The page with its flags. */
  readonly flags: string;
  /** What it asks of GitHub. */
  readonly github: string;
}

/** What a program that runs in the cluster for ever can be told, whichever it is. Its image is that of `provider`. */
export const program = ({ replicas, memory, flags, github }: Particulars): Readonly<Record<string, Value>> => ({
  replicas: whole('One works, the others stand by.', replicas, { minimum: 1 }),
  resources: group(memory.why, {
    requests: group('What is set aside for it.', {
      cpu: text('Processors.', '50m', cpu),
      memory: text('Memory.', memory.request, { pattern: memory.pattern }),
    }),
    limits: group('What it may take. There is no limit of processors: it would only make leases late.', {
      memory: text(`Memory, ${memory.most} at most.`, memory.limit, { pattern: memory.pattern }),
    }),
  }),
  logLevel: choice('Lines below this level are not written.', 'info', ['debug', 'info', 'warn', 'error']),
  githubApiUrl: text(`Where GitHub's API is, for ${github}. Empty: https://api.github.com.`, '', {
    pattern: '^(https://[^/]+(/.*[^/])?)?$',
  }),
  extraArgs: texts(`More flags (${flags}). They come last, and of a flag that is given twice the last one counts.`, []),
  extraEnv: objects('More environment variables, as in a Pod. Secrets by `valueFrom` only.', []),
  nodeSelector: words('Nodes that it may run on.', { 'kubernetes.io/os': 'linux' }),
  tolerations: objects('Taints that it puts up with.', []),
  affinity: object('Instead of the rule that replicas keep off each other.', {}),
  priorityClassName: text('How important its Pods are to the scheduler.', ''),
  podAnnotations: words('Annotations of its Pods.', {}),
  podLabels: words('Labels of its Pods.', {}),
  scrapeAnnotations: flag('Whether its Pods bear `prometheus.io/scrape`, `port` and `path`.', true),
});
