import type { User } from './user.ts';

/** What somebody wants to do. */
export interface Attributes {
  user: User;
  verb: string;
  /** Absent for a resource request. */
  nonResourcePath?: string;
  group: string;
  version: string;
  resource: string;
  subresource: string;
  namespace: string;
  name: string;
  /** The selectors of a list, watch or deletecollection: the Node authorizer looks at them. */
  fieldSelector: string;
  labelSelector: string;
}

interface Verdict {
  allowed: boolean;
  reason: string;
}

/** The seam for roles and node identities. */
export type Authorizer = (attributes: Attributes) => Verdict;

export const allowAll: Authorizer = () => ({ allowed: true, reason: '' });
