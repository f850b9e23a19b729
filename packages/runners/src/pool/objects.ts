import type { nodes, pods, serviceAccounts } from '@tartan/kube';

export type Pod = NonNullable<(typeof pods)['ofType']>;
export type Node = NonNullable<(typeof nodes)['ofType']>;
export type ServiceAccount = NonNullable<(typeof serviceAccounts)['ofType']>;
