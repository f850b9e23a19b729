import type { Json, JsonObject, KubeObject } from '../object.ts';
import type { Resource } from '../resource.ts';
import { asJson } from './as-json.ts';
import { partialMetadataOf } from './partial-metadata.ts';

export interface TableOptions {
  now: number;
  includeObject: 'None' | 'Metadata' | 'Object';
  listMetadata: JsonObject;
  /** In a watch only the first table has them. */
  columns: boolean;
}

const shown = (object: KubeObject, includeObject: TableOptions['includeObject']): Json => {
  if (includeObject === 'None') return null;
  return includeObject === 'Object' ? asJson(object) : partialMetadataOf(object);
};

/** `meta.k8s.io/v1 Table`: what `kubectl get` asks for. */
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
