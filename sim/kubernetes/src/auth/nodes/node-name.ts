import type { User } from '../user.ts';

export const nodesGroup = 'system:nodes';
const prefix = 'system:node:';

/** The Node that this user is; undefined for everybody else, '' for one that does not say which. */
export const nodeNameOf = ({ name, groups }: User): string | undefined =>
  name.startsWith(prefix) && groups.includes(nodesGroup) ? name.slice(prefix.length) : undefined;
