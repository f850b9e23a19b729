import { timestamp } from '@tartan/kube/clock';
import {
  alreadyExists,
  ApiError,
  badRequest,
  errorWithoutReason,
  forbiddenTo,
  invalidObject,
  notFound,
} from '../errors/api-error.ts';
import { copy, type KubeObject } from '../object.ts';
import { validateMetadata } from '../registry/validation/metadata.ts';
import type { Resource, WriteContext } from '../resource.ts';
import { type Core, dropEmptyMetadata, generateName, keyOf, read } from './store.ts';

/** How often the real server tries to generate a free name. */
const nameAttempts = 8;

const namespaces = { group: '', plural: 'namespaces', kind: 'Namespace' };

/** A namespaced object needs a namespace that is not being deleted. */
const assertNamespace = (core: Core, resource: Resource, namespace: string, name: string): void => {
  const kind = core.registry.find('', 'namespaces');
  const found = kind && read(core, kind, '', namespace);
  if (!found) throw notFound(namespaces, namespace);
  if (found.metadata.deletionTimestamp) {
    throw forbiddenTo(
      resource,
      name,
      `unable to create new content in namespace ${namespace} because it is being terminated`,
      [
        {
          reason: 'NamespaceTerminating',
          message: `namespace ${namespace} is being terminated`,
          field: 'metadata.namespace',
        },
      ],
    );
  }
};

export const assertSameNamespace = (resource: Resource, object: KubeObject, namespace: string): void => {
  if (!resource.namespaced) return;
  if (object.metadata.namespace && object.metadata.namespace !== namespace) {
    throw badRequest('the namespace of the provided object does not match the namespace sent on the request');
  }
};

const createOnce = (
  core: Core,
  resource: Resource,
  namespace: string,
  body: KubeObject,
  context: WriteContext,
): KubeObject => {
  const object = copy(body);
  const metadata = object.metadata;
  const generated = !metadata.name && metadata.generateName;
  if (generated) metadata.name = generateName(metadata.generateName ?? '', core.random);
  const name = metadata.name ?? '';
  if (resource.namespaced) {
    metadata.namespace = namespace;
    assertNamespace(core, resource, namespace, name);
  } else {
    delete metadata.namespace;
  }
  if (metadata.resourceVersion) throw errorWithoutReason('resourceVersion should not be set on objects to be created');
  delete metadata.deletionTimestamp;
  delete metadata.deletionGracePeriodSeconds;
  delete metadata.selfLink;
  dropEmptyMetadata(object);
  delete metadata.generation;
  metadata.uid = core.uuid();
  metadata.creationTimestamp = timestamp(core.clock.now());
  if (resource.strategy.hasGeneration) metadata.generation = 1;
  resource.strategy.applyDefaults(object);
  resource.strategy.prepareForCreate(object, context);
  const causes = [...validateMetadata(object, resource), ...resource.strategy.validate(object, undefined, context)];
  if (causes.length > 0) throw invalidObject({ ...resource, kind: object.kind }, name, causes);
  const key = keyOf(resource, namespace, name);
  const standing = core.storage.get(key);
  if (standing) throw alreadyExists(resource, name, standing.metadata.deletionTimestamp !== undefined);
  const stored = resource.toStored(object);
  return context.dryRun ? object : resource.fromStored(core.storage.put(key, stored));
};

/** Creates an object; retries with another generated name if one is taken. */
export const createObject = (
  core: Core,
  resource: Resource,
  namespace: string,
  body: KubeObject,
  context: WriteContext,
): KubeObject => {
  assertSameNamespace(resource, body, namespace);
  for (let count = 1; ; count++) {
    try {
      return createOnce(core, resource, namespace, body, context);
    } catch (error) {
      const taken = error instanceof ApiError && error.status.reason === 'AlreadyExists';
      if (!taken || body.metadata.name || count === nameAttempts) throw error;
    }
  }
};
