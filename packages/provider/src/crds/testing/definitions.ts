import type { CustomResourceDefinition } from '@tartan/api/crds';

type Schema = NonNullable<CustomResourceDefinition['spec']['versions'][number]['schema']>['openAPIV3Schema'];

/** The definition with another schema in each version. */
export const withSchema = (
  definition: CustomResourceDefinition,
  change: (schema: NonNullable<Schema>) => NonNullable<Schema>,
): CustomResourceDefinition => ({
  ...definition,
  spec: {
    ...definition.spec,
    versions: definition.spec.versions.map((version) => ({
      ...version,
      schema: { openAPIV3Schema: change(version.schema?.openAPIV3Schema ?? { type: 'object' }) },
    })),
  },
});

/** Like a later version of our definition: its spec has one more field. */
export const withExtraField = (definition: CustomResourceDefinition, name: string): CustomResourceDefinition =>
  withSchema(definition, (schema) => {
    const { spec = { type: 'object' } } = schema.properties ?? {};
    const properties = { ...spec.properties, [name]: { type: 'string' } };
    return { ...schema, properties: { ...schema.properties, spec: { ...spec, properties } } };
  });
