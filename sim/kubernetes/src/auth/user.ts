/** Who asks. */
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

/** The group whose members nobody refuses anything. */
export const masters = 'system:masters';
