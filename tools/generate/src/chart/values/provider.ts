import { choice, flag, group, object, objects, text, texts, whole, words } from './value.ts';

/** 128Mi to 512Mi: less does not carry a roll, and whoever needs more has met a leak. */
const memory = { pattern: '^(12[89]|1[3-9][0-9]|[234][0-9][0-9]|50[0-9]|51[0-2])Mi$' } as const;
const cpu = { pattern: '^[0-9]+(\\.[0-9]+|m)?$' } as const;

export const provider = group('The manager: the process that looks after the Macs.', {
  image: group('Its image, which also brings all that is put on Macs.', {
    repository: text('Where it is.', 'tartan', { minLength: 1 }),
    tag: text('Which one. Empty: the version of the application that the chart belongs to.', ''),
    pullPolicy: choice('When to pull it.', 'IfNotPresent', ['Always', 'IfNotPresent', 'Never']),
    pullSecrets: texts('Names of Secrets to pull it with.', []),
  }),
  replicas: whole('One works, the others stand by.', 2, { minimum: 1 }),
  resources: group(
    'What a manager needs. It takes 160 MB at most while it rolls 16 Macs at once (`npm run bench -- roll-memory`).',
    {
      requests: group('What is set aside for it.', {
        cpu: text('Processors.', '50m', cpu),
        memory: text('Memory.', '192Mi', memory),
      }),
      limits: group('What it may take. There is no limit of processors: it would only make leases late.', {
        memory: text('Memory, 512Mi at most.', '256Mi', memory),
      }),
    },
  ),
  logLevel: choice('Lines below this level are not written.', 'info', ['debug', 'info', 'warn', 'error']),
  extraArgs: texts(
    'More flags (provider-flags.md). They come last, and of a flag that is given twice the last one counts.',
    [],
  ),
  extraEnv: objects('More environment variables, as in a Pod. Secrets by `valueFrom` only.', []),
  nodeSelector: words('Nodes that it may run on.', { 'kubernetes.io/os': 'linux' }),
  tolerations: objects('Taints that it puts up with.', []),
  affinity: object('Instead of the rule that replicas keep off each other.', {}),
  priorityClassName: text('How important its Pods are to the scheduler.', ''),
  podAnnotations: words('Annotations of its Pods.', {}),
  podLabels: words('Labels of its Pods.', {}),
  scrapeAnnotations: flag('Whether its Pods bear `prometheus.io/scrape`, `port` and `path`.', true),
});
