import { labels } from '@tartan/api';
import { ageSince } from '../output/age.ts';
import { poolStateOf } from '../runners/document.ts';
import type { Pool } from '../runners/read-runners.ts';
import { counted } from '../output/terminal-text.ts';
import { conditionsOf, definedFacts, type ExplainInput, type Explanation } from './explanation.ts';

type State = ReturnType<typeof poolStateOf>['state'];

/** Explains a runner pool by the status that its controller reports. */
export const explainRunnerPool = (pool: Pool, { now, nodes }: ExplainInput): Explanation => {
  const { metadata, spec, status } = pool;
  const { state, why, also } = poolStateOf(pool);
  const macs = nodes.filter((node) => node.metadata.labels?.[labels.fleet] === spec.fleetSelector).length;
  const { queue, stuck = 0 } = status ?? {};
  return {
    where: `The pool ${metadata.name} wants ${counted(spec.replicas, 'runner')} and has ${status?.replicas ?? 'an unknown number of'}: ${status?.warm ?? '?'} warm, ${status?.busy ?? '?'} busy.`,
    decision: {
      word: state,
      text: `${why}${also.length > 0 ? ` Also: ${also.join(', ')}.` : ''}`,
      from: 'reported',
    },
    facts: definedFacts({
      image: spec.image,
      fleet: `${spec.fleetSelector}, with ${counted(macs, 'Mac')}`,
      GitHub: spec.github?.organization ?? spec.github?.repository ?? 'spec.github is not set',
      labels: spec.runnerLabels.join(', '),
      queue: queue
        ? `${queue.jobs}${queue.oldestSince ? `, the oldest for ${ageSince(queue.oldestSince, now)}` : ''}; read from GitHub ${ageSince(queue.observedAt, now)} ago`
        : 'unknown',
      stuck: stuck > 0 ? `${stuck}, the oldest for ${ageSince(status?.oldestStuckSince, now)}` : undefined,
    }),
    next: nextOf[state],
    remedies: remediesOf(metadata.name, spec.fleetSelector)[state] ?? [],
    unseen: ['The current answer of GitHub: the status has the last one.'],
    conditions: conditionsOf('RunnerPool', status?.conditions),
  };
};

const nextOf: Readonly<Record<State, string[]>> = {
  ready: ['The controller replaces a Pod that ends at once.'],
  starved: ['The controller replaces a Pod that ends at once.'],
  saturated: ['The next job starts when a running one ends.'],
  'no room': ['The next job starts when a running one ends.'],
  rolling: ['The controller replaces idle Pods, some at a time. Busy Pods finish their job first.'],
  draining: ['The controller deletes idle Pods now, and busy Pods after their job.'],
  deleting: ['The controller deletes idle Pods now, and busy Pods after their job.'],
  filling: ['The controller creates and registers Pods; they boot within minutes.'],
  'github away': ['The controller asks GitHub again. Meanwhile it deletes and registers no runner.'],
  stuck: [],
  unseen: [],
  'no github': [],
};

/** Other states pass by themselves. */
const remediesOf = (name: string, fleet: string): Readonly<Partial<Record<State, string[]>>> => ({
  unseen: ['Check that the runners controller runs: kubectl get deployments -l app.kubernetes.io/name=tartan -A.'],
  'no github': ['Set spec.github: an organization or a repository, and the Secret of a GitHub App (docs/runners.md).'],
  'github away': ['Read the condition GitHubReachable below: the cause is the App, its Secret or GitHub.'],
  starved: [
    'Compare runs-on of the jobs with spec.runnerLabels, and check which repositories may use the runner group.',
  ],
  saturated: [
    `If Macs have room, add runners: kubectl scale rpool ${name} --replicas=N. Otherwise add Macs to the fleet ${fleet}.`,
  ],
  'no room': [`Add Macs to the fleet ${fleet}, or reduce the replicas. tartan fleet shows what runs on the Macs.`],
  stuck: [`List the Pods: tartan runners ${name}; then tartan explain pod/NAME, and explain its Node.`],
});
