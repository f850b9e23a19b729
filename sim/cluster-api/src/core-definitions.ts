import type { customResourceDefinitions } from '@tartan/kube';

type Definition = NonNullable<(typeof customResourceDefinitions)['ofType']>;

/** The kinds of Cluster API core that others watch, as `kubectl` names them. */
const kinds = [
  { kind: 'Cluster', plural: 'clusters', shortName: 'cl', scales: false },
  { kind: 'Machine', plural: 'machines', shortName: 'ma', scales: false },
  { kind: 'MachineSet', plural: 'machinesets', shortName: 'ms', scales: true },
  { kind: 'MachineDeployment', plural: 'machinedeployments', shortName: 'md', scales: true },
] as const;

type Version = 'v1beta1' | 'v1beta2';

/** Core 1.11 to 1.14 store v1beta2, and still serve v1beta1. */
const usualVersions: readonly Version[] = ['v1beta2', 'v1beta1'];

const scale = {
  specReplicasPath: '.spec.replicas',
  statusReplicasPath: '.status.replicas',
  labelSelectorPath: '.status.selector',
} as const;

const definitionOf = (
  { kind, plural, shortName, scales }: (typeof kinds)[number],
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
      shortNames: [shortName],
      categories: ['cluster-api'],
    },
    versions: versions.map((name, index) => ({
      name,
      storage: index === 0,
      served: true,
      subresources: { status: {}, ...(scales ? { scale: { ...scale } } : {}) },
      schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
    })),
  },
});

/**
 * Definitions of core's kinds with open schemas: enough for whoever only reads them, and for people who write them by hand. Core's own
 * rules and defaults are not in them, and objects are the same in all versions, of which the first is stored.
 */
export const coreDefinitions = (versions = usualVersions): readonly Definition[] =>
  kinds.map((kind) => definitionOf(kind, versions));
