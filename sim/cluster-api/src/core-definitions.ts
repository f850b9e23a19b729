import type { customResourceDefinitions } from '@tartan/kube';

type Definition = NonNullable<(typeof customResourceDefinitions)['ofType']>;
type Column = { name: string; type: string; jsonPath: string };

const text = (name: string, jsonPath: string): Column => ({ name, type: 'string', jsonPath });
const integer = (name: string, jsonPath: string): Column => ({ name, type: 'integer', jsonPath });
const available = text('Available', '.status.conditions[?(@.type=="Available")].status');
const cluster = text('Cluster', '.spec.clusterName');
const phase = text('Phase', '.status.phase');
const age: Column = { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' };
const counts = [
  integer('Desired', '.spec.replicas'),
  integer('Current', '.status.replicas'),
  integer('Ready', '.status.readyReplicas'),
  integer('Available', '.status.availableReplicas'),
  integer('Up-to-date', '.status.upToDateReplicas'),
];

/** The kinds of Cluster API core that users write or watch, with kubectl's names and columns. */
const kinds = [
  { kind: 'Cluster', plural: 'clusters', shortName: 'cl', scales: false, columns: [available, phase, age] },
  {
    kind: 'Machine',
    plural: 'machines',
    shortName: 'ma',
    scales: false,
    columns: [cluster, text('Node Name', '.status.nodeRef.name'), available, phase, age],
  },
  { kind: 'MachineSet', plural: 'machinesets', shortName: 'ms', scales: true, columns: [cluster, ...counts, age] },
  {
    kind: 'MachineDeployment',
    plural: 'machinedeployments',
    shortName: 'md',
    scales: true,
    columns: [cluster, ...counts, phase, age],
  },
  {
    kind: 'MachineDrainRule',
    plural: 'machinedrainrules',
    shortName: undefined,
    scales: false,
    columns: [text('Behavior', '.spec.drain.behavior'), text('Order', '.spec.drain.order'), age],
  },
] as const;

type Version = 'v1beta1' | 'v1beta2';

/** Core 1.11 to 1.14 store v1beta2, and still serve v1beta1. */
const defaultVersions: readonly Version[] = ['v1beta2', 'v1beta1'];

const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
} as const;

const definitionOf = (
  { kind, plural, shortName, scales, columns }: (typeof kinds)[number],
  versions: readonly Version[],
): Definition => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.cluster.x-k8s.io`, labels: { 'cluster.x-k8s.io/provider': 'cluster-api' } },
  spec: {
    group: 'cluster.x-k8s.io',
    scope: 'Namespaced',
    names: {
      kind,
      listKind: `${kind}List`,
      plural,
      singular: kind.toLowerCase(),
      ...(shortName && { shortNames: [shortName] }),
      categories: ['cluster-api'],
    },
    versions: versions.map((name, index) => ({
      name,
      storage: index === 0,
      served: true,
      subresources: { status: {}, ...(scales ? { scale: { ...scale } } : {}) },
      additionalPrinterColumns: [...columns],
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
});

/**
 * Definitions of core's kinds with open schemas: enough for readers, and for users who write them by hand. They lack core's own rules and
 * defaults. Objects are the same in all versions, of which the first is stored.
 */
export const coreDefinitions = (versions = defaultVersions): readonly Definition[] =>
  kinds.map((kind) => definitionOf(kind, versions));
