import type { Json } from '../object.ts';

/**
 * An OpenAPI v3 schema as Kubernetes uses it: of a custom resource (as its author wrote it) or of a built-in kind (dumped from the real
 * server with resolved `$ref`s, so the graph may contain cycles).
 */
export interface Schema {
  type?: 'object' | 'array' | 'string' | 'integer' | 'number' | 'boolean';
  format?: string;
  nullable?: boolean;
  default?: Json;
  enum?: Json[];
  properties?: Record<string, Schema>;
  additionalProperties?: Schema | boolean;
  required?: string[];
  items?: Schema;
  minimum?: number;
  maximum?: number;
  exclusiveMinimum?: boolean;
  exclusiveMaximum?: boolean;
  multipleOf?: number;
  minLength?: number;
  maxLength?: number;
  pattern?: string;
  minItems?: number;
  maxItems?: number;
  uniqueItems?: boolean;
  minProperties?: number;
  maxProperties?: number;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  not?: Schema;
  title?: string;
  description?: string;
  'x-kubernetes-preserve-unknown-fields'?: boolean;
  'x-kubernetes-embedded-resource'?: boolean;
  'x-kubernetes-int-or-string'?: boolean;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-map-type'?: 'atomic' | 'granular';
  'x-kubernetes-patch-merge-key'?: string;
  'x-kubernetes-patch-strategy'?: string;
  'x-kubernetes-validations'?: ValidationRule[];
}

/** One CEL rule. */
export interface ValidationRule {
  rule: string;
  message?: string;
  messageExpression?: string;
  reason?: string;
  fieldPath?: string;
  optionalOldSelf?: boolean;
}

/** The schema of an own property, never one from the prototype. */
export const propertySchema = (schema: Schema, name: string): Schema | undefined =>
  schema.properties && Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;

/** The schema of the values of a map; `true` and `false` do not define one. */
export const valueSchema = (schema: Schema): Schema | undefined =>
  typeof schema.additionalProperties === 'object' ? schema.additionalProperties : undefined;

/** The schema of the field `name`. */
export const fieldSchema = (schema: Schema | undefined, name: string): Schema | undefined =>
  schema && (propertySchema(schema, name) ?? valueSchema(schema));
