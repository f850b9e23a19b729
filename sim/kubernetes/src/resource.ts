import type { User } from './authentication/user.ts';
import type { Cause } from './errors/field-errors.ts';
import type { ApiResponse } from './http-messages.ts';
import type { KubeObject } from './object.ts';
import { type Columns, nameAndAge } from './printers/columns.ts';
import type { Schema } from './schema/schema.ts';
import type { LoopbackClient } from './store/loopback-client.ts';

/** What a write knows besides the object. */
export interface WriteContext {
  api: LoopbackClient;
  user: User;
  dryRun: boolean;
}

/**
 * What is special about a kind. The pipeline that is common to all (names, resource versions, finalizers, generation, field
 * validation) lives in `store/`. Functions that "prepare" change the object they are given; functions that "validate" answer with
 * what is wrong. Everything is synchronous.
 */
export interface Strategy {
  /** The main endpoint keeps the old status and `/status` writes only the status. */
  hasStatus: boolean;
  /** `metadata.generation` counts changes outside metadata and status. */
  hasGeneration: boolean;
  /** PUT without a resource version is allowed. */
  allowUnconditionalUpdate: boolean;
  /** PUT to a name that does not exist creates it. */
  allowCreateOnUpdate: boolean;
  /** Fill in what the server fills in: on every write after decoding, and on every read of a custom resource. */
  applyDefaults(object: KubeObject): void;
  prepareForCreate(object: KubeObject, context: WriteContext): void;
  prepareForUpdate(object: KubeObject, old: KubeObject, context: WriteContext): void;
  /** After spec and metadata of `old` have been put back. */
  prepareForStatusUpdate(object: KubeObject, old: KubeObject, context: WriteContext): void;
  /** `old` is absent on create. */
  validate(object: KubeObject, old: KubeObject | undefined, context: WriteContext): Cause[];
  validateStatus(object: KubeObject, old: KubeObject, context: WriteContext): Cause[];
  /** Metadata that `/status` may change besides the status itself. Custom resources: none. Pods and Nodes: all that the real server lets through. */
  statusMayChangeMetadata: boolean;
  /** Seconds until a graceful delete may end; 0 deletes at once. */
  gracePeriodSeconds(object: KubeObject, requested: number | undefined): number;
  /** Something waits for a delete and ends with another one that has no grace left: Pods and their kubelet. */
  graceful: boolean;
  /** Refuse a delete (throws ApiError), or change the object that is marked as being deleted. */
  beforeDelete(object: KubeObject, context: WriteContext): void;
  /** The object stays until this is false, once its deletion has begun. */
  blocksDeletion(object: KubeObject): boolean;
  /** A finished delete answers with the object; other kinds answer with a Status. */
  returnsDeletedObject: boolean;
  /** What `fieldSelector` may name, besides metadata.name and metadata.namespace. */
  selectableFields(object: KubeObject): Record<string, string>;
  columns: Columns;
}

/** A subresource that is a view of its parent: read, edited, and written back into the parent. status, scale, approval, … */
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
  /** What remains of the path behind the subresource (`nodes/N/proxy/...`). */
  rest: string;
  query: URLSearchParams;
  headers: Readonly<Record<string, string>>;
  signal: AbortSignal;
  /** Decoded body of a create; undefined when there is none. */
  body: KubeObject | undefined;
  context: WriteContext;
}

/** A subresource that does something: binding, eviction, token, log, exec. */
export type Action = (call: ActionRequest) => ApiResponse | Promise<ApiResponse>;

export interface Subresource {
  name: string;
  /** Of the body, which may belong to another group (`pods/eviction` is policy/v1 Eviction). */
  group: string;
  version: string;
  kind: string;
  verbs: readonly string[];
  view?: View;
  action?: Action;
  /** Of a view that is of another kind than its parent. */
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
  /** Key prefix in the storage, with a trailing slash. Versions of one kind share it, and so do both event APIs. */
  prefix: string;
  /** Between this version and what is stored. Neither changes its argument. */
  toStored(object: KubeObject): KubeObject;
  fromStored(object: KubeObject): KubeObject;
  /** A create-only kind that is answered and never stored: reviews. */
  review?: (object: KubeObject, context: WriteContext) => KubeObject | Promise<KubeObject>;
}

export const apiVersionOf = (resource: { group: string; version: string }): string =>
  resource.group === '' ? resource.version : `${resource.group}/${resource.version}`;

/** A kind with nothing special about it: plain data. */
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
