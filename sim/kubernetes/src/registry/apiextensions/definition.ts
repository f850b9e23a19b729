import { isObject, type KubeObject, type ObjectMeta } from '../../object.ts';
import type { Schema } from '../../schema/schema.ts';
import type { ScalePaths } from './scale.ts';

/** The fields of a CustomResourceDefinition. */

export interface DefinitionNames {
  plural: string;
  singular?: string;
  shortNames?: string[];
  kind: string;
  listKind?: string;
  categories?: string[];
}

export interface DefinitionVersion {
  name: string;
  served: boolean;
  storage: boolean;
  deprecated?: boolean;
  deprecationWarning?: string;
  schema?: { openAPIV3Schema?: Schema };
  subresources?: { status?: object; scale?: ScalePaths };
  additionalPrinterColumns?: { name: string; type: string; format?: string; jsonPath: string }[];
  selectableFields?: { jsonPath: string }[];
}

interface WebhookConversion {
  clientConfig?: { url?: string; service?: { port?: number }; caBundle?: string };
  conversionReviewVersions?: string[];
}

export interface Condition {
  type: string;
  status: string;
  lastTransitionTime?: string;
  reason?: string;
  message?: string;
}

export interface Definition extends KubeObject {
  metadata: ObjectMeta;
  spec: {
    group: string;
    names: DefinitionNames;
    scope: string;
    versions: DefinitionVersion[];
    preserveUnknownFields?: boolean;
    conversion?: { strategy: string; webhook?: WebhookConversion };
  };
  status?: { conditions?: Condition[] | null; acceptedNames?: DefinitionNames; storedVersions?: string[] };
}

const isDefinition = (object: KubeObject): object is Definition => isObject(object['spec']);

/** Casts a decoded CustomResourceDefinition. */
export const definitionOf = (object: KubeObject): Definition => {
  if (!isDefinition(object)) throw new TypeError(`${object.kind} ${object.metadata.name} has no spec`);
  return object;
};

export const conditionOf = (definition: Definition, type: string): Condition | undefined =>
  definition.status?.conditions?.find((condition) => condition.type === type);

/** Replaces the condition of the same type; lastTransitionTime changes only with the status. */
export const withCondition = (conditions: readonly Condition[], next: Condition): Condition[] => {
  const old = conditions.find(({ type }) => type === next.type);
  if (!old) return [...conditions, next];
  const kept =
    old.status === next.status && old.lastTransitionTime ? { lastTransitionTime: old.lastTransitionTime } : {};
  return conditions.map((condition) => (condition === old ? { ...next, ...kept } : condition));
};
