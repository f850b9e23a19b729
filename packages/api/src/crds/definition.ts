import type { customResourceDefinitions } from '@tartan/kube';
import { z } from 'zod';
import { contractLabels } from '../names.ts';
import type { KindDescription } from '../schema/kind.ts';

const optionalText = z.exactOptional(z.string());
const optionalNumber = z.exactOptional(z.number());
const optionalTexts = z.exactOptional(z.array(z.string()));

/**
 * A structural schema as the API server requires it: a type everywhere, and nothing that only `oneOf` and the like specify.
 * Strict: a kind with a keyword that is missing here fails generation, instead of losing it.
 */
const structuralSchema = z.strictObject({
  description: optionalText,
  type: z.enum(['object', 'array', 'string', 'integer', 'boolean']),
  format: optionalText,
  default: z.exactOptional(
    z.union([z.string(), z.number(), z.boolean(), z.array(z.string()), z.record(z.string(), z.unknown())]),
  ),
  enum: optionalTexts,
  minimum: optionalNumber,
  maximum: optionalNumber,
  minLength: optionalNumber,
  maxLength: optionalNumber,
  maxItems: optionalNumber,
  // The server uses RE2, which has no look-around.
  pattern: z.exactOptional(z.string().regex(/^(?!.*\(\?[=!<])/)),
  required: optionalTexts,
  get items() {
    return z.exactOptional(structuralSchema);
  },
  get properties() {
    return z.exactOptional(z.record(z.string(), structuralSchema));
  },
  get additionalProperties() {
    return z.exactOptional(structuralSchema);
  },
  'x-kubernetes-list-type': z.exactOptional(z.enum(['atomic', 'set', 'map'])),
  'x-kubernetes-list-map-keys': optionalTexts,
  'x-kubernetes-validations': z.exactOptional(z.array(z.strictObject({ rule: z.string(), message: z.string() }))),
});

export type StructuralSchema = z.output<typeof structuralSchema>;

/**
 * The structural schema of a zod schema for input: fields with a default are optional.
 * Drops what zod adds: the bounds of JavaScript's integers, its long pattern for times (the server knows the format), and `readOnly`.
 */
export const toStructural = (schema: z.ZodType): StructuralSchema =>
  structuralSchema.parse(
    z.toJSONSchema(schema, {
      target: 'openapi-3.0',
      io: 'input',
      override: ({ jsonSchema }) => {
        delete jsonSchema.readOnly;
        if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum;
        if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum;
        if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
      },
    }),
  );

export type CustomResourceDefinition = NonNullable<typeof customResourceDefinitions.ofType>;
export type AnyKind = KindDescription<z.ZodType, z.ZodType>;

/** The schema of whole objects. The server adds the common fields, such as `metadata`. */
export const schemaOf = ({ description, spec, status, rules }: AnyKind): StructuralSchema => {
  const wanted = toStructural(spec);
  return {
    description,
    type: 'object',
    ...(wanted.default === undefined ? { required: ['spec'] } : {}),
    properties: { spec: wanted, ...(status === undefined ? {} : { status: toStructural(status) }) },
    ...(rules === undefined ? {} : { 'x-kubernetes-validations': rules.map((rule) => ({ ...rule })) }),
  };
};

/** The CustomResourceDefinition of a kind. */
export const definitionOf = (kind: AnyKind): CustomResourceDefinition => {
  const { group, version, plural, singular, shortNames, namespaced, kind: kindName } = kind.names;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.${group}`, ...(kind.contract ? { labels: { ...contractLabels } } : {}) },
    spec: {
      group,
      scope: namespaced ? 'Namespaced' : 'Cluster',
      names: {
        kind: kindName,
        listKind: `${kindName}List`,
        plural,
        singular,
        shortNames: [...shortNames],
        categories: [...kind.categories],
      },
      versions: [
        {
          name: version,
          served: true,
          storage: true,
          additionalPrinterColumns: kind.columns.map((column) => ({ ...column })),
          ...(kind.status === undefined
            ? {}
            : { subresources: { status: {}, ...(kind.scale === undefined ? {} : { scale: { ...kind.scale } }) } }),
          schema: { openAPIV3Schema: schemaOf(kind) },
        },
      ],
    },
  };
};
