import type { Pod } from './snapshot.ts';

type Spec = NonNullable<Pod['spec']>;
type Container = Spec['containers'][number];

const isSet = (value: unknown): boolean => {
  if (value === undefined || value === null || value === false || value === '') return false;
  return typeof value !== 'object' || Object.keys(value).length > 0;
};

/** By name: whatever is set, and is not what the API server sets by itself. */
const podFields = [
  'dnsConfig',
  'ephemeralContainers',
  'hostAliases',
  'hostIPC',
  'hostname',
  'hostNetwork',
  'hostPID',
  'resourceClaims',
  'resources',
  'runtimeClassName',
  'securityContext',
  'setHostnameAsFQDN',
  'shareProcessNamespace',
  'subdomain',
] as const satisfies readonly (keyof Spec)[];

const containerFields = [
  'lifecycle',
  'livenessProbe',
  'readinessProbe',
  'restartPolicy',
  'securityContext',
  'startupProbe',
  'stdin',
  'tty',
  'workingDir',
] as const satisfies readonly (keyof Container)[];

/** What the API server puts there, and what a virtual machine does anyway. */
const usual = {
  dnsPolicy: ['ClusterFirst', 'Default'],
  terminationMessagePath: ['/dev/termination-log'],
  terminationMessagePolicy: ['File'],
};
const isUnusual = (value: string | undefined, values: readonly string[]): boolean =>
  value !== undefined && value !== '' && !values.includes(value);

const ofContainer = (container: Container, path: string): readonly string[] => [
  ...containerFields.filter((name) => isSet(container[name])).map((name) => `${path}.${name}`),
  ...(['terminationMessagePath', 'terminationMessagePolicy'] as const)
    .filter((name) => isUnusual(container[name], usual[name]))
    .map((name) => `${path}.${name}`),
  ...(container.ports ?? []).flatMap(({ hostPort }, at) => (isSet(hostPort) ? [`${path}.ports[${at}].hostPort`] : [])),
  ...(container.volumeMounts ?? []).flatMap(({ subPath, subPathExpr }, at) => [
    ...(isSet(subPath) ? [`${path}.volumeMounts[${at}].subPath`] : []),
    ...(isSet(subPathExpr) ? [`${path}.volumeMounts[${at}].subPathExpr`] : []),
  ]),
];

/**
 * Fields of the Pod that change what a kubelet does and mean nothing here, by their paths. None that the API server or its admission sets
 * by default, none that only the scheduler reads, and none for which `suitability.ts` refuses the Pod.
 */
export const ignoredFields = ({ spec }: Pod): readonly string[] => {
  if (spec === undefined) return [];
  return [
    ...podFields.filter((name) => isSet(spec[name])).map((name) => `spec.${name}`),
    ...(isUnusual(spec.dnsPolicy, usual.dnsPolicy) ? ['spec.dnsPolicy'] : []),
    // False asks for a user namespace; absent is true.
    ...(spec.hostUsers === false ? ['spec.hostUsers'] : []),
    ...spec.containers.flatMap((container, at) => ofContainer(container, `spec.containers[${at}]`)),
  ].sort();
};
