import { type customResourceDefinitions, defineResource } from '@tartan/kube';
import type { ExternalObject } from '../contract/external-object.ts';

type Definition = NonNullable<(typeof customResourceDefinitions)['ofType']>;

const infrastructure = 'infrastructure.cluster.x-k8s.io';
const controlPlane = 'controlplane.cluster.x-k8s.io';

const kinds = [
  { group: infrastructure, kind: 'PlayedCluster', plural: 'playedclusters' },
  { group: infrastructure, kind: 'PlayedMachine', plural: 'playedmachines' },
  { group: infrastructure, kind: 'PlayedMachineTemplate', plural: 'playedmachinetemplates' },
  { group: controlPlane, kind: 'PlayedControlPlane', plural: 'playedcontrolplanes' },
] as const;

type PlayedKind = (typeof kinds)[number]['kind'];

const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } as const;

/** The smallest kinds that keep the contract. */
export const playedDefinitions: readonly Definition[] = kinds.map(({ group, kind, plural }) => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: `${plural}.${group}`, labels: { 'cluster.x-k8s.io/v1beta2': 'v1' } },
  spec: {
    group,
    scope: 'Namespaced',
    names: { kind, listKind: `${kind}List`, plural, singular: kind.toLowerCase() },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', properties: { spec: open, status: open } } },
      },
    ],
  },
}));

const resourceOf = (kind: PlayedKind) => {
  const { group, plural } = kinds.find((each) => each.kind === kind) ?? kinds[0];
  return defineResource<ExternalObject>({ group, version: 'v1', kind, plural, namespaced: true });
};

export const playedClusters = resourceOf('PlayedCluster');
export const playedMachines = resourceOf('PlayedMachine');
export const playedTemplates = resourceOf('PlayedMachineTemplate');
export const playedControlPlanes = resourceOf('PlayedControlPlane');

/** As references of core name it. */
export const refTo = (kind: PlayedKind, name: string): { apiGroup: string; kind: string; name: string } => ({
  apiGroup: kind === 'PlayedControlPlane' ? controlPlane : infrastructure,
  kind,
  name,
});
