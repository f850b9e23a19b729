import type { Condition, KubeObject } from '@tartan/kube';
import type { Contract } from './find-kind.ts';

/** An object of a provider: core knows only what the contract says of it. */
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

export const isManagedElsewhere = (object: ExternalObject): boolean =>
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

/** What a template is made of, for whoever clones it. */
export const templateOf = (object: ExternalObject): ExternalObject =>
  (at(object, 'spec', 'template') as ExternalObject | undefined) ?? {};

export const conditionOf = (object: ExternalObject, type: string): Condition | undefined => {
  const conditions = at(object, 'status', 'conditions');
  return Array.isArray(conditions) ? (conditions as Condition[]).find((each) => each.type === type) : undefined;
};
