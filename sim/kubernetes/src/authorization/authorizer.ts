import type { User } from '../authentication/user.ts';
import type { PolicyRule } from './policy-rule.ts';

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

export interface Decision {
  allowed: boolean;
  reason: string;
}

/** The seam for roles and node identities. */
export type Authorizer = (attributes: Attributes) => Decision;

/** Everything that roles grant to somebody, and the roles that a binding names but that do not exist. */
interface GrantedRules {
  rules: readonly PolicyRule[];
  problems: readonly string[];
}

/** What roles say beyond single questions; nothing else in the server knows them by list. */
export interface RuleResolver {
  /** In one namespace, with what holds everywhere. */
  rulesFor(user: User, namespace: string): GrantedRules;
  /** The rules of a role that a binding in `namespace` ('' for everywhere) names; undefined if there is no such role. */
  rulesOf(ref: RoleReference, namespace: string): readonly PolicyRule[] | undefined;
}

export interface RoleReference {
  kind: string;
  name: string;
}

export const allowAll: Authorizer = () => ({ allowed: true, reason: '' });
