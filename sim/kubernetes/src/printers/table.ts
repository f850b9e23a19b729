import type { Json, JsonObject, KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';

/** Objects are JSON; only their types do not say so. */
const isJson = (_value: unknown): _value is Json => true;

const asJson = (value: unknown): Json => (isJson(value) ? value : null);

const metadataOf = (object: KubeObject): Json => asJson(object.metadata);

/** The response to a client that asked for metadata only. Shares the metadata with the object. */
export const partialMetadataOf = (object: KubeObject): JsonObject => ({
  kind: 'PartialObjectMetadata',
  apiVersion: 'meta.k8s.io/v1',
  metadata: metadataOf(object),
});

/** Unlike other lists of built-in kinds, its items have a kind. */
export const partialMetadataListOf = (objects: readonly KubeObject[], listMetadata: JsonObject): JsonObject => ({
  kind: 'PartialObjectMetadataList',
  apiVersion: 'meta.k8s.io/v1',
  metadata: listMetadata,
  items: objects.map(partialMetadataOf),
});

export interface TableOptions {
  now: number;
  includeObject: 'None' | 'Metadata' | 'Object';
  listMetadata: JsonObject;
  /** In a watch only the first table has column definitions. */
  columns: boolean;
}

const shown = (object: KubeObject, includeObject: TableOptions['includeObject']): Json => {
  if (includeObject === 'None') return null;
  return includeObject === 'Object' ? asJson(object) : partialMetadataOf(object);
};

/** `meta.k8s.io/v1 Table`: the format for `kubectl get`. */
export const tableOf = (resource: Resource, objects: readonly KubeObject[], options: TableOptions): JsonObject => {
  const { columns } = resource.strategy;
  return {
    kind: 'Table',
    apiVersion: 'meta.k8s.io/v1',
    metadata: options.listMetadata,
    columnDefinitions: options.columns ? columns.definitions.map((definition) => ({ ...definition })) : null,
    rows: objects.map((object) => {
      const conditions = columns.conditions?.(object) ?? [];
      return {
        cells: columns.cells(object, options.now),
        ...(conditions.length === 0 ? {} : { conditions }),
        object: shown(object, options.includeObject),
      };
    }),
  };
};
