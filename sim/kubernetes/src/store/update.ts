import { badRequest, conflict, invalidObject, notFound, resourceVersionConflict } from '../errors/api-error.ts';
import { type Cause, invalid } from '../errors/field-errors.ts';
import { copy, equal, type KubeObject } from '../object.ts';
import { validateMetadataUpdate } from '../registry/validation/metadata.ts';
import type { Resource, Strategy, View, WriteContext } from '../resource.ts';
import { assertSameNamespace, createObject } from './create.ts';
import { type Core, dropEmptyMetadata, keyOf, read } from './store.ts';

/** The result of a write. */
export interface UpdateResult {
  object: KubeObject;
  created: boolean;
}

/** A PUT with a uid applies only to that object, not to another one of the same name. */
export const assertSameUid = (resource: Resource, body: KubeObject, old: KubeObject | undefined): void => {
  const { name, uid } = body.metadata;
  if (!old || !uid || uid === old.metadata.uid) return;
  const why = `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${old.metadata.uid}`;
  throw conflict(resource, name, why);
};

/** The optimistic lock: the client's version must be the current one. */
const assertResourceVersion = (resource: Resource, body: KubeObject, old: KubeObject, unconditional: boolean): void => {
  const { name, resourceVersion } = body.metadata;
  if (!resourceVersion) {
    if (unconditional) return;
    throw invalidObject({ ...resource, kind: resource.plural }, name, [
      invalid('metadata.resourceVersion', 0, 'must be specified for an update'),
    ]);
  }
  if (resourceVersion !== old.metadata.resourceVersion) throw resourceVersionConflict(resource, name);
};

/** Keeps metadata that no client can change. */
const keepSystemMetadata = (object: KubeObject, old: KubeObject): void => {
  const { metadata } = object;
  metadata.uid ||= old.metadata.uid;
  metadata.creationTimestamp = old.metadata.creationTimestamp;
  metadata.resourceVersion = old.metadata.resourceVersion;
  if (old.metadata.generation === undefined) delete metadata.generation;
  else metadata.generation = old.metadata.generation;
  // A deletion in progress stays unchanged; validation refuses one that a client makes up.
  const { deletionTimestamp, deletionGracePeriodSeconds } = old.metadata;
  if (deletionTimestamp !== undefined) metadata.deletionTimestamp = deletionTimestamp;
  if (deletionGracePeriodSeconds !== undefined) metadata.deletionGracePeriodSeconds = deletionGracePeriodSeconds;
  delete metadata.selfLink;
  dropEmptyMetadata(object);
};

/** The part of an object that `metadata.generation` counts: everything except metadata and, if it is a subresource, the status. */
const desiredState = (object: KubeObject, strategy: Strategy): Record<string, unknown> => {
  const { apiVersion: _version, kind: _kind, metadata: _metadata, ...rest } = object;
  if (strategy.hasStatus) delete rest['status'];
  return rest;
};

const isDeletionComplete = (resource: Resource, object: KubeObject, old: KubeObject): boolean =>
  old.metadata.deletionTimestamp !== undefined &&
  !(old.metadata.deletionGracePeriodSeconds ?? 0) &&
  !resource.strategy.blocksDeletion(object);

/**
 * Stores `object` in place of `old`. Does nothing when nothing changed (no revision, no event), and removes the object when this write
 * removed the last finalizer of a deletion.
 */
const store = (
  core: Core,
  resource: Resource,
  object: KubeObject,
  old: KubeObject,
  context: WriteContext,
): KubeObject => {
  const key = keyOf(resource, old.metadata.namespace ?? '', old.metadata.name);
  if (context.dryRun) return object;
  if (isDeletionComplete(resource, object, old)) {
    core.storage.remove(key);
    return object;
  }
  const stored = core.storage.get(key);
  const next = resource.toStored(object);
  if (stored && equal(next, stored)) return resource.fromStored(stored);
  return resource.fromStored(core.storage.put(key, next));
};

const throwIfInvalid = (resource: Resource, name: string, causes: readonly Cause[]): void => {
  if (causes.length > 0) throw invalidObject(resource, name, causes);
};

export const updateObject = (
  core: Core,
  resource: Resource,
  namespace: string,
  body: KubeObject,
  context: WriteContext,
): UpdateResult => {
  assertSameNamespace(resource, body, namespace);
  const { name } = body.metadata;
  const old = read(core, resource, namespace, name);
  if (!old) {
    if (!resource.strategy.allowCreateOnUpdate) throw notFound(resource, name);
    return { object: createObject(core, resource, namespace, body, context), created: true };
  }
  assertResourceVersion(resource, body, old, resource.strategy.allowUnconditionalUpdate);
  const object = copy(body);
  if (resource.namespaced) object.metadata.namespace = namespace;
  else delete object.metadata.namespace;
  keepSystemMetadata(object, old);
  resource.strategy.applyDefaults(object);
  if (resource.strategy.hasStatus) keepField(object, old, 'status');
  resource.strategy.prepareForUpdate(object, old, context);
  if (
    resource.strategy.hasGeneration &&
    !equal(desiredState(object, resource.strategy), desiredState(old, resource.strategy))
  ) {
    object.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  throwIfInvalid(resource, name, [
    ...validateMetadataUpdate(object, old, resource),
    ...resource.strategy.validate(object, old, context),
  ]);
  return { object: store(core, resource, object, old, context), created: false };
};

const keepField = (object: KubeObject, old: KubeObject, field: string): void => {
  if (old[field] === undefined) delete object[field];
  else object[field] = copy(old[field]);
};

/** `/status`: keeps everything except the status and, for some kinds, metadata. */
const statusView = (resource: Resource): View => ({
  schema: resource.schema,
  read: (parent) => parent,
  write: (parent, edited, context) => {
    const { strategy } = resource;
    const next: KubeObject = { ...copy(parent) };
    if (strategy.statusMayChangeMetadata) {
      next.metadata = copy({ ...edited.metadata, name: parent.metadata.name });
    }
    if (edited['status'] === undefined) delete next['status'];
    else next['status'] = copy(edited['status']);
    keepSystemMetadata(next, parent);
    strategy.applyDefaults(next);
    strategy.prepareForStatusUpdate(next, parent, context);
    return next;
  },
  validate: (next, old, context) => [
    ...(resource.strategy.statusMayChangeMetadata ? validateMetadataUpdate(next, old, resource) : []),
    ...resource.strategy.validateStatus(next, old, context),
  ],
});

export const viewOf = (resource: Resource, subresource: string): View | undefined => {
  const entry = resource.subresources.find(({ name }) => name === subresource);
  if (!entry) return undefined;
  return entry.view ?? (subresource === 'status' ? statusView(resource) : undefined);
};

/** Writes a subresource that is a view of its parent. `edited` is the view from the client. */
export const updateView = (
  core: Core,
  resource: Resource,
  view: View,
  namespace: string,
  edited: KubeObject,
  context: WriteContext,
): KubeObject => {
  const { name } = edited.metadata;
  const old = read(core, resource, namespace, name);
  if (!old) throw notFound(resource, name);
  if (edited.metadata.namespace && edited.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
  assertResourceVersion(resource, edited, old, view.read(old) !== old || resource.strategy.allowUnconditionalUpdate);
  const next = view.write(old, edited, context);
  if (
    resource.strategy.hasGeneration &&
    !equal(desiredState(next, resource.strategy), desiredState(old, resource.strategy))
  ) {
    next.metadata.generation = (old.metadata.generation ?? 0) + 1;
  }
  throwIfInvalid(resource, name, view.validate(next, old, context));
  return view.read(store(core, resource, next, old, context));
};
