import { labels } from '@tartan/api';
import { jobOf, retiredSinceOf, runnerIDOf } from '../runners/pod-row.ts';
import { ageSince } from '../show/age.ts';
import type { Pod } from '../world/observe.ts';
import type { ExplainDocument } from './document.ts';

const jobWords = {
  started: 'it has one, and nobody takes the Pod away before it has ended',
  none: 'none has begun',
  unknown: 'nobody knows, so it counts as busy',
} as const;

/** What else is known of a Pod that is a runner; nothing of others. */
export const runnerFacts = (pod: Pod, now: number): ExplainDocument['facts'] => {
  const pool = pod.metadata.labels?.[labels.runnerPool];
  if (pool === undefined) return [];
  const id = runnerIDOf(pod);
  const retired = retiredSinceOf(pod);
  return [
    { what: 'runner of', is: `the pool ${pool} (tartan runners ${pool})` },
    {
      what: 'at GitHub',
      is: id === undefined ? 'not registered yet: it has no configuration, so it has no job' : `runner ${id}`,
    },
    { what: 'job', is: jobWords[jobOf(pod)] },
    ...(retired === undefined
      ? []
      : [
          {
            what: 'retired',
            is: `${ageSince(retired, now)} ago: GitHub gives it no job any more, and it is about to end`,
          },
        ]),
  ];
};
