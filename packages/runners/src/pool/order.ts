import { isOnDrainingNode } from './classify.ts';
import type { PodFacts } from './snapshot.ts';

/** What makes a Pod less useful than another, the strongest first. */
const drawbacks: readonly ((pod: PodFacts) => boolean)[] = [
  ({ node }) => node.kind === 'unbound',
  ({ phase }) => phase === 'pending',
  ({ isStale }) => isStale,
  isOnDrainingNode,
  ({ runnerID }) => runnerID === undefined,
];

/** For `sort`: who goes first when somebody must. Of equals the youngest; the rest keeps two passes from choosing differently. */
export const leastUsefulFirst = (a: PodFacts, b: PodFacts): number => {
  for (const has of drawbacks) if (has(a) !== has(b)) return has(a) ? -1 : 1;
  if (a.createdAt !== b.createdAt) return b.createdAt - a.createdAt;
  return a.uid < b.uid ? -1 : 1;
};
