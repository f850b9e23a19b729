import { say } from '@tartan/api';
import type { ConditionUpdate } from '@tartan/kube';
import { timestamp } from '@tartan/kube/clock';
import type { Stuck } from './stuck.ts';
import { counted, listed, since } from './words.ts';

/** Why GitHub takes no registrations. */
export interface GitHubProblem {
  readonly reason: 'AppSecretInvalid' | 'Denied' | 'RateLimited' | 'Unavailable';
  /** What, why, and what to do. */
  readonly message: string;
  readonly retryAt?: number;
}

export const githubReachableOf = (problem: GitHubProblem | undefined): ConditionUpdate => {
  if (problem === undefined) return say('RunnerPool', 'GitHubReachable', 'Reachable');
  const again = problem.retryAt === undefined ? '' : ` Not asked again before ${timestamp(problem.retryAt)}.`;
  return say('RunnerPool', 'GitHubReachable', problem.reason, `${problem.message}${again}`);
};

const kinds = ['terminating', 'unbooted', 'silent'] as const satisfies readonly Stuck['kind'][];
const stuckWords = {
  terminating: ['PodsStuckTerminating', 'still there after its deletion', 'still there after their deletion'],
  unbooted: ['PodsNeverStarted', 'on a Mac without a virtual machine', 'on a Mac without a virtual machine'],
  silent: ['PodsSilent', 'running without a word of its runner', 'running without a word of their runners'],
} as const;
const whatToDo = {
  terminating: 'Look at the agent of its Node.',
  unbooted: 'Look at what it waits for: kubectl describe pod.',
  silent: 'Is the runner script in the image?',
} as const;

/** The reason is that of the oldest: it is the one that the advice is about. */
export const stuckOf = (stuck: readonly Stuck[]): ConditionUpdate => {
  const [oldest] = stuck;
  if (oldest === undefined) return say('RunnerPool', 'Stuck', 'NoneStuck');
  const parts = kinds.map((kind) => {
    const [, one, many] = stuckWords[kind];
    const count = stuck.filter((each) => each.kind === kind).length;
    return count > 0 && counted(count, one, many);
  });
  const { pod, kind } = oldest;
  const message = `Pods: ${listed(parts)}. The oldest is ${pod.name}, ${since(oldest.since)}. ${whatToDo[kind]}`;
  return say('RunnerPool', 'Stuck', stuckWords[kind][0], message);
};
