import type { User } from './authentication/user.ts';
import type { Cause } from './errors/field-errors.ts';
import type { ApiResponse } from './http-messages.ts';
import type { KubeObject } from './object.ts';
import { type Columns, nameAndAge } from './printers/columns.ts';
import type { Schema } from './schema/schema.ts';
import type { LoopbackClient } from './store/loopback-client.ts';

/** The context of a write. */
export interface WriteContext {
  api: LoopbackClient;
  user: User;
  dryRun: boolean;
}

/**
 * The rules of one kind. The common pipeline (names, resource versions, finalizers, generation, field validation) is in `store/`. Functions
 * that "prepare" change the object; functions that "validate" return errors. All are synchronous.
 */
export interface Strategy {
  /** The main endpoint keeps the old status and `/status` writes only the status. */
  hasStatus: boolean;
  /** `metadata.generation` counts changes outside metadata and status. */
  hasGeneration: boolean;
  /** PUT without a resource version is allowed. */
  allowUnconditionalUpdate: boolean;
  /** PUT to a missing name creates the object. */
  allowCreateOnUpdate: boolean;
  /** Sets defaults: on every write after decoding, and on every read of a custom resource. */
  applyDefaults(object: KubeObject): void;
  prepareForCreate(object: KubeObject, context: WriteContext): void;
  prepareForUpdate(object: KubeObject, old: KubeObject, context: WriteContext): void;
  /** After spec and metadata were reset to those of `old`. */
  prepareForStatusUpdate(object: KubeObject, old: KubeObject, context: WriteContext): void;
  /** `old` is absent on create. */
  validate(object: KubeObject, old: KubeObject | undefined, context: WriteContext): Cause[];
  validateStatus(object: KubeObject, old: KubeObject, context: WriteContext): Cause[];
  /** `/status` may also change metadata. Custom resources: no. Pods and Nodes: as much as in the real server. */
  statusMayChangeMetadata: boolean;
  /** Grace period of a delete; 0 deletes at once. */
  gracePeriodSeconds(object: KubeObject, requested: number | undefined): number;
  /** Two-phase delete: the kubelet ends the Pod and then deletes it with grace period 0. */
  graceful: boolean;
  /** Refuses a delete (throws ApiError), or changes the object that is marked as being deleted. */
  beforeDelete(object: KubeObject, context: WriteContext): void;
  /** While true, the object stays after its deletion has begun. */
  blocksDeletion(object: KubeObject): boolean;
  /** A completed delete returns the object; other kinds return a Status. */
  returnsDeletedObject: boolean;
  /** Additional fields for `fieldSelector`, besides metadata.name and metadata.namespace. */
  selectableFields(object: KubeObject): Record<string, string>;
  columns: Columns;
}

/** A subresource that is a view of its parent: read, edited, and written back into the parent (status, scale, approval, …). */
export interface View {
  read(parent: KubeObject): KubeObject;
  /** The parent after the edit. Not yet validated or stored. */
  write(parent: KubeObject, edited: KubeObject, context: WriteContext): KubeObject;
  validate(parent: KubeObject, old: KubeObject, context: WriteContext): Cause[];
  /** Of the view itself, for strategic merge and strict field validation. */
  schema: Schema | undefined;
}

export interface ActionRequest {
  verb: 'get' | 'create';
  /** The parent's name, and its namespace ('' for cluster-scoped). */
  name: string;
  namespace: string;
  /** The path after the subresource (`nodes/N/proxy/...`). */
  rest: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Decoded body of a create; undefined when there is none. */
  body: KubeObject | undefined;
  context: WriteContext;
}

/** A subresource that is an action: binding, eviction, token, log, exec. */
export type Action = (call: ActionRequest) => ApiResponse | Promise<ApiResponse>;

export interface Subresource {
  name: string;
  /** Of the body, which may have another group (`pods/eviction` is policy/v1 Eviction). */
  group: string;
  version: string;
  kind: string;
  verbs: readonly string[];
  view?: View;
  action?: Action;
  /** For a view of another kind than its parent. */
  columns?: Columns;
  /** For decoding and strict validation of an action's body. */
  schema?: Schema;
}

/** A kind in one served version. */
export interface Resource {
  group: string;
  version: string;
  kind: string;
  listKind: string;
  plural: string;
  singular: string;
  shortNames: readonly string[];
  categories: readonly string[];
  namespaced: boolean;
  verbs: readonly string[];
  custom: boolean;
  schema: Schema | undefined;
  strategy: Strategy;
  subresources: readonly Subresource[];
  /** Key prefix in the storage, with a trailing slash. The versions of one kind share it, and so do both event APIs. */
  prefix: string;
  /** Conversions between this version and the stored one. Neither changes its argument. */
  toStored(object: KubeObject): KubeObject;
  fromStored(object: KubeObject): KubeObject;
  /** Create-only kinds that are answered and never stored: reviews. */
  review?: (object: KubeObject, context: WriteContext) => KubeObject | Promise<KubeObject>;
}

export const apiVersionOf = (resource: { group: string; version: string }): string =>
  resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;

/** A kind without special rules. */
export const plainStrategy: Strategy = {
  hasStatus: false,
  hasGeneration: false,
  allowUnconditionalUpdate: true,
  allowCreateOnUpdate: false,
  applyDefaults: () => {},
  prepareForCreate: () => {},
  prepareForUpdate: () => {},
  prepareForStatusUpdate: () => {},
  validate: () => [],
  validateStatus: () => [],
  statusMayChangeMetadata: false,
  gracePeriodSeconds: () => 0,
  graceful: false,
  beforeDelete: () => {},
  blocksDeletion: (object) => (object.metadata.finalizers ?? []).length > 0,
  returnsDeletedObject: false,
  selectableFields: () => ({}),
  columns: nameAndAge,
};
