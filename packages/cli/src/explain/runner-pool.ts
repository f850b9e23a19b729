import { labels } from '@tartan/api';
import { ageSince } from '../output/age.ts';
import { poolStateOf } from '../runners/document.ts';
import type { Pool } from '../runners/read-runners.ts';
import { conditionsOf, type ExplainInput, type Explanation } from './explanation.ts';

type State = ReturnType<typeof poolStateOf>['state'];

/** How a pool of runners is, by the word of its controller. */
export const explainRunnerPool = (pool: Pool, world: ExplainInput): Explanation => {
  const { metadata, spec, status } = pool;
  const { state, why, also } = poolStateOf(pool);
  const macs = world.nodes.filter((node) => node.metadata.labels?.[labels.fleet] === spec.fleetSelector).length;
  const { queue, stuck = 0 } = status ?? {};
  return {
    subject: { kind: 'runnerpool', namespace: metadata.namespace ?? '', name: metadata.name },
    where: `The pool ${metadata.name} wants ${spec.replicas === 1 ? '1 runner' : `${spec.replicas} runners`} and has ${status?.replicas ?? 'an unknown number of'}: ${status?.warm ?? '?'} warm, ${status?.busy ?? '?'} busy.`,
    decision: {
      word: state,
      text: `${why}${also.length > 0 ? ` Also: ${also.join(', ')}.` : ''}`,
      from: 'reported',
    },
    facts: [
      { what: 'image', is: spec.image },
      { what: 'fleet', is: `${spec.fleetSelector}, of which ${macs === 1 ? '1 Mac has' : `${macs} Macs have`} joined` },
      {
        what: 'belongs to',
        is: spec.github?.organization ?? spec.github?.repository ?? 'nobody: spec.github is not set',
      },
      { what: 'labels', is: spec.runnerLabels.join(', ') },
      {
        what: 'queue',
        is: queue
          ? `${queue.jobs}${queue.oldestSince ? `, the oldest for ${ageSince(queue.oldestSince, world.now)}` : ''}; GitHub was asked ${ageSince(queue.observedAt, world.now)} ago`
          : 'not known',
      },
      ...(stuck > 0
        ? [{ what: 'stuck', is: `${stuck}, the oldest for ${ageSince(status?.oldestStuckSince, world.now)}` }]
        : []),
    ],
    next: nextOf(state),
    remedies: remediesOf(state, metadata.name, spec.fleetSelector),
    unseen: ['What GitHub says at this moment: the status has its last word.'],
    conditions: conditionsOf('RunnerPool', status?.conditions),
    relatedUIDs: [metadata.uid],
  };
};

const nextOf = (state: State): string[] => {
  switch (state) {
    case 'ready':
    case 'starved':
      return ['A Pod that ends is replaced at once.'];
    case 'saturated':
    case 'no room':
      return ['Whoever ends its job makes room for the next one.'];
    case 'rolling':
      return ['Idle Pods are replaced wave by wave; those with a job finish it first.'];
    case 'draining':
    case 'deleting':
      return ['Idle Pods go now, those with a job when it has ended.'];
    case 'filling':
      return ['Pods are made, registered and booted, which takes minutes at most.'];
    case 'github away':
      return ['It is asked again. Nothing is taken away meanwhile, and nobody is registered.'];
    case 'stuck':
    case 'unseen':
    case 'no github':
      return [];
  }
};

const remediesOf = (state: State, name: string, fleet: string): string[] => {
  switch (state) {
    case 'unseen':
      return ['Look whether the runners controller runs: kubectl get deployments -l app.kubernetes.io/name=tartan -A.'];
    case 'no github':
      return ['Set spec.github: an organization or a repository, and the Secret of a GitHub App (docs/runners.md).'];
    case 'github away':
      return ['Read the condition GitHubReachable below: it says whether the App, its Secret or GitHub is the cause.'];
    case 'starved':
      return [
        'Compare runs-on of the jobs with spec.runnerLabels, and the runner group with who may use it at GitHub.',
      ];
    case 'saturated':
      return [
        `More runners, where Macs have room: kubectl scale rpool ${name} --replicas=N; or more Macs for the fleet ${fleet}.`,
      ];
    case 'no room':
      return [`More Macs for the fleet ${fleet}, or fewer replicas. tartan fleet shows who takes the room.`];
    case 'stuck':
      return [`Which ones: tartan runners ${name}; then tartan explain pod/NAME, and the Node that it is on.`];
    case 'deleting':
    case 'rolling':
    case 'draining':
    case 'filling':
    case 'ready':
      return [];
  }
};
