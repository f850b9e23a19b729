import type { Live, pods } from '@tartan/kube';

export type Pod = Live<NonNullable<(typeof pods)['ofType']>>;
type PodSpec = NonNullable<Pod['spec']>;
export type Container = PodSpec['containers'][number];
export type Volume = NonNullable<PodSpec['volumes']>[number];
export type Probe = NonNullable<Container['readinessProbe']>;
export type ContainerState = NonNullable<ContainerStatus['state']>;
export type ContainerStatus = NonNullable<NonNullable<Pod['status']>['containerStatuses']>[number];
export type PodStatus = NonNullable<Pod['status']>;

/** What a Pod asks for cannot be given: the kubelet says so in the state of its container, and tries again. */
export class ConfigProblem extends Error {
  override name = 'ConfigProblem';
}
