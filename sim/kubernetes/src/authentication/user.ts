/** An authenticated user. */
export interface User {
  name: string;
  uid?: string;
  groups: readonly string[];
  extra?: Readonly<Record<string, readonly string[]>>;
}

export const anonymous: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

/** The identity under which the built-in controllers act. */
export const controllerManager: User = {
  name: 'system:kube-controller-manager',
  groups: ['system:authenticated'],
};

/** The group whose members are allowed everything. */
export const masters = 'system:masters';

export const nodesGroup = 'system:nodes';
const nodeUserPrefix = 'system:node:';

/** The name of the Node that this user is. Undefined for any other user, '' for a node user without a name. */
export const nodeNameOf = ({ name, groups }: User): string | undefined =>
  name.startsWith(nodeUserPrefix) && groups.includes(nodesGroup) ? name.slice(nodeUserPrefix.length) : undefined;
