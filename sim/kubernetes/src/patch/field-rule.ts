import type { Schema } from '../schema/schema.ts';

/** How a strategic merge treats one field, as the schema says. */
export interface FieldRule {
  /** Of the field, or of the elements if the field is a list. */
  schema: Schema | undefined;
  strategy: 'merge' | 'replace';
  /** What identifies an element of a merged list of objects; empty for primitives. */
  mergeKey: string;
}

const propertyOf = (schema: Schema | undefined, name: string): Schema | undefined => {
  if (schema?.properties && Object.hasOwn(schema.properties, name)) return schema.properties[name];
  for (const part of schema?.allOf ?? []) {
    const found = propertyOf(part, name);
    if (found) return found;
  }
  return typeof schema?.additionalProperties === 'object' ? schema.additionalProperties : undefined;
};

const strategiesOf = (property: Schema): string[] => (property['x-kubernetes-patch-strategy'] ?? '').split(',');

/** Objects are merged unless they say `replace`. */
export const objectRule = (schema: Schema | undefined, name: string): FieldRule => {
  const property = propertyOf(schema, name);
  const replaced = property !== undefined && strategiesOf(property).includes('replace');
  return { schema: property, strategy: replaced ? 'replace' : 'merge', mergeKey: '' };
};

/** Lists are replaced unless they say `merge`. Undefined if there is no such field. */
export const listRule = (schema: Schema | undefined, name: string): FieldRule | undefined => {
  const property = propertyOf(schema, name);
  if (property === undefined) return undefined;
  return {
    schema: property.items,
    strategy: strategiesOf(property).includes('merge') ? 'merge' : 'replace',
    mergeKey: property['x-kubernetes-patch-merge-key'] ?? '',
  };
};
