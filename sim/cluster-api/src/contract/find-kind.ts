import {
  type CallOptions,
  type Client,
  customResourceDefinitions,
  defineResource,
  isKubeError,
  type Resource,
} from '@tartan/kube';
import type { ExternalObject } from './external-object.ts';
import { pluralize } from './pluralize.ts';

export type Contract = 'v1beta1' | 'v1beta2';

/** A kind of a provider, and what its definition says of the contract it keeps. */
export interface ExternalKind {
  readonly resource: Resource<ExternalObject>;
  readonly contract: Contract;
}

export type FindKind = (
  of: { apiGroup: string; kind: string },
  options?: CallOptions,
) => Promise<ExternalKind | undefined>;

/** `v1alpha1_v1beta1` names versions, the best of them last: `v2` before `v1`, `v1` before `v1beta1`, that before `v1alpha2`. */
const newest = (versions: string): string | undefined => {
  const rank = (version: string): number => {
    const [, major = '0', stage, minor = '0'] = /^v(\d+)(?:(alpha|beta)(\d+))?$/.exec(version) ?? [];
    const maturity = stage === undefined ? 2 : stage === 'beta' ? 1 : 0;
    return maturity * 1e6 + Number(major) * 1e3 + Number(minor);
  };
  return versions
    .split('_')
    .toSorted((a, b) => rank(a) - rank(b))
    .at(-1);
};

/** The newest contract that the labels of a definition name, and the version of the kind that keeps it. */
export const contractOf = (
  labels: Readonly<Record<string, string>> | undefined,
): { contract: Contract; version: string } | undefined => {
  for (const contract of ['v1beta2', 'v1beta1'] as const) {
    const version = newest(labels?.[`cluster.x-k8s.io/${contract}`] ?? '');
    if (version) return { contract, version };
  }
  return undefined;
};

/** Asks once for each kind that is there. Undefined for one that is not, or that keeps no contract. */
export const createFindKind = (client: Client): FindKind => {
  const known = new Map<string, ExternalKind>();
  return async ({ apiGroup, kind }, options) => {
    const plural = pluralize(kind);
    const name = `${plural}.${apiGroup}`;
    const before = known.get(name);
    if (before) return before;
    try {
      const { metadata } = await client.get(customResourceDefinitions, { name }, options);
      const found = contractOf(metadata.labels);
      if (!found) return undefined;
      const resource = defineResource<ExternalObject>({
        group: apiGroup,
        version: found.version,
        kind,
        plural,
        namespaced: true,
      });
      const external = { resource, contract: found.contract };
      known.set(name, external);
      return external;
    } catch (error) {
      if (isKubeError(error, 'notFound')) return undefined;
      throw error;
    }
  };
};
