import type { ImageReference } from './reference.ts';

export type PullPolicy = 'Always' | 'IfNotPresent' | 'Never';

/** As the API server fills it in: a tag that is made to move is looked up each time. */
export const usualPolicy = ({ tag, digest }: ImageReference): PullPolicy =>
  digest === undefined && tag === 'latest' ? 'Always' : 'IfNotPresent';

/** `local`: whatever is here of it. */
export type PullDecision = 'pull' | 'use local' | 'refuse';

/**
 * What the policy comes to. `Always` is there so that a tag that moved is noticed. What a digest names never moves: asking the registry
 * would fetch 40 GB again as soon as only the golden base is left of it (INC-47).
 */
export const decidePull = (
  policy: PullPolicy | undefined,
  reference: ImageReference,
  isHere: boolean,
): PullDecision => {
  switch (policy ?? usualPolicy(reference)) {
    case 'Always':
      return isHere && reference.digest !== undefined ? 'use local' : 'pull';
    case 'IfNotPresent':
      return isHere ? 'use local' : 'pull';
    case 'Never':
      return isHere ? 'use local' : 'refuse';
  }
};
