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
    next: nextOf(state),
    remedies: remediesOf(state, metadata.name, spec.fleetSelector),
    unseen: ['The current answer of GitHub: the status has the last one.'],
    conditions: conditionsOf('RunnerPool', status?.conditions),
  };
};

const nextOf = (state: State): string[] => {
  switch (state) {
    case 'ready':
    case 'starved':
      return ['The controller replaces a Pod that ends at once.'];
    case 'saturated':
    case 'no room':
      return ['The next job starts when a running one ends.'];
    case 'rolling':
      return ['The controller replaces idle Pods, some at a time. Busy Pods finish their job first.'];
    case 'draining':
    case 'deleting':
      return ['The controller deletes idle Pods now, and busy Pods after their job.'];
    case 'filling':
      return ['The controller creates and registers Pods; they boot within minutes.'];
    case 'github away':
      return ['The controller asks GitHub again. Meanwhile it deletes and registers no runner.'];
    case 'stuck':
    case 'unseen':
    case 'no github':
      return [];
  }
};

const remediesOf = (state: State, name: string, fleet: string): string[] => {
  switch (state) {
    case 'unseen':
      return ['Check that the runners controller runs: kubectl get deployments -l app.kubernetes.io/name=tartan -A.'];
    case 'no github':
      return ['Set spec.github: an organization or a repository, and the Secret of a GitHub App (docs/runners.md).'];
    case 'github away':
      return ['Read the condition GitHubReachable below: the cause is the App, its Secret or GitHub.'];
    case 'starved':
      return [
        'Compare runs-on of the jobs with spec.runnerLabels, and check which repositories may use the runner group.',
      ];
    case 'saturated':
      return [
        `If Macs have room, add runners: kubectl scale rpool ${name} --replicas=N. Otherwise add Macs to the fleet ${fleet}.`,
      ];
    case 'no room':
      return [`Add Macs to the fleet ${fleet}, or reduce the replicas. tartan fleet shows what runs on the Macs.`];
    case 'stuck':
      return [`List the Pods: tartan runners ${name}; then tartan explain pod/NAME, and explain its Node.`];
    case 'deleting':
    case 'rolling':
    case 'draining':
    case 'filling':
    case 'ready':
      return [];
  }
};
