import type { Json, JsonObject, KubeObject } from '../object.ts';
import { asJson } from './as-json.ts';

const metadataOf = (object: KubeObject): Json => asJson(object.metadata);

/** What a client gets that asked for metadata alone. Shares the metadata with the object. */
export const partialMetadataOf = (object: KubeObject): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: metadataOf(object),
});

/** Unlike other lists of built-in kinds, this one repeats the kind in every item. */
export const partialMetadataListOf = (objects: readonly KubeObject[], listMetadata: JsonObject): JsonObject => ({
  kind: 'PartialObjectMetadataList',
  apiVersion: 'meta.k8s.io/v1',
  metadata: listMetadata,
  items: objects.map(partialMetadataOf),
});
