import {
  type CallOptions,
  type Client,
  type Condition,
  customResourceDefinitions,
  defineResource,
  isKubeError,
  type KubeObject,
  type Resource,
} from '@tartan/kube';

/**
 * The plural that core derives from a kind, in lower case. Core does not use discovery: it never finds a definition with another plural.
 * Has the few English rules that names of kinds need.
 */
export const pluralize = (kind: string): string => {
  const word = kind.toLowerCase();
  if (/[^aeiou]y$/.test(word)) return `${word.slice(0, -1)}ies`;
  return /(s|x|z|ch|sh)$/.test(word) ? `${word}es` : `${word}s`;
};

export type Contract = 'v1beta1' | 'v1beta2';

/** A kind of a provider, and the contract of its definition. */
export interface ExternalKind {
  readonly resource: Resource<ExternalObject>;
  readonly contract: Contract;
}

export type FindKind = (
  of: { apiGroup: string; kind: string },
  options?: CallOptions,
) => Promise<ExternalKind | undefined>;

/** From versions such as `v1alpha1_v1beta1`, the newest: `v2` before `v1`, `v1` before `v1beta1`, that before `v1alpha2`. */
const newestVersion = (versions: string): string | undefined => {
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

/** The newest contract in the labels of a definition, and the version of the kind that implements it. */
export const contractOf = (
  labels: Readonly<Record<string, string>> | undefined,
): { contract: Contract; version: string } | undefined => {
  for (const contract of ['v1beta2', 'v1beta1'] as const) {
    const version = newestVersion(labels?.[`cluster.x-k8s.io/${contract}`] ?? '');
    if (version) return { contract, version };
  }
  return undefined;
};

/** Looks each kind up once. Undefined if it does not exist, or implements no contract. */
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

/** An object of a provider: core knows only the fields of the contract. */
export interface ExternalObject extends KubeObject {
  spec?: Record<string, unknown>;
  status?: Record<string, unknown>;
}

const at = (object: unknown, ...path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, key) => (typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined),
    object,
  );

const textAt = (object: unknown, ...path: readonly string[]): string | undefined => {
  const value = at(object, ...path);
  return typeof value === 'string' && value !== '' ? value : undefined;
};

export const isProvisioned = (object: ExternalObject, contract: Contract): boolean =>
  (contract === 'v1beta2' ? at(object, 'status', 'initialization', 'provisioned') : at(object, 'status', 'ready')) ===
  true;

export const isControlPlaneInitialized = (object: ExternalObject, contract: Contract): boolean =>
  (contract === 'v1beta2'
    ? at(object, 'status', 'initialization', 'controlPlaneInitialized')
    : at(object, 'status', 'initialized')) === true;

export const isExternallyManaged = (object: ExternalObject): boolean =>
  at(object, 'status', 'externalManagedControlPlane') === true;

export const isInterruptible = (object: ExternalObject): boolean => at(object, 'status', 'interruptible') === true;

export const providerIDOf = (object: ExternalObject): string | undefined => textAt(object, 'spec', 'providerID');

export const failureDomainOf = (object: ExternalObject): string | undefined =>
  textAt(object, 'status', 'failureDomain');

export const addressesOf = (object: ExternalObject): unknown[] | undefined => {
  const addresses = at(object, 'status', 'addresses');
  return Array.isArray(addresses) ? addresses : undefined;
};

export const endpointOf = (object: ExternalObject): { host: string; port: number } | undefined => {
  const host = textAt(object, 'spec', 'controlPlaneEndpoint', 'host');
  const port = at(object, 'spec', 'controlPlaneEndpoint', 'port');
  return host !== undefined && typeof port === 'number' && port > 0 ? { host, port } : undefined;
};

/** The content of a template, for cloning. */
export const templateOf = (object: ExternalObject): ExternalObject =>
  (at(object, 'spec', 'template') as ExternalObject | undefined) ?? {};

export const conditionOf = (object: ExternalObject, type: string): Condition | undefined => {
  const conditions = at(object, 'status', 'conditions');
  return Array.isArray(conditions) ? (conditions as Condition[]).find((each) => each.type === type) : undefined;
};
