import type { User } from '../authentication/user.ts';
import type { PolicyRule } from './policy-rule.ts';

/** What a user wants to do. */
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
  /** The selectors of a list, watch or deletecollection. The Node authorizer needs them. */
  fieldSelector: string;
  labelSelector: string;
}

export interface Decision {
  allowed: boolean;
  reason: string;
}

/** Implemented by RBAC and the Node authorizer. */
export type Authorizer = (attributes: Attributes) => Decision;

/** All rules that roles grant to a user, and the roles that bindings name but that do not exist. */
interface GrantedRules {
  rules: readonly PolicyRule[];
  problems: readonly string[];
}

/** Lists rules, where an `Authorizer` answers single questions. */
export interface RuleResolver {
  /** In one namespace, with the cluster-wide rules. */
  rulesFor(user: User, namespace: string): GrantedRules;
  /** The rules of a role that a binding in `namespace` ('' for a ClusterRoleBinding) names; undefined if there is no such role. */
  rulesOf(ref: RoleReference, namespace: string): readonly PolicyRule[] | undefined;
}

export interface RoleReference {
  kind: string;
  name: string;
}

export const allowAll: Authorizer = () => ({ allowed: true, reason: '' });
