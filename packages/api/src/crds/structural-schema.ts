import { z } from 'zod';

/** What the API server takes as the schema of a custom resource: a type everywhere, and nothing that is said only in `oneOf` and the like. */
export interface StructuralSchema {
  type: 'object' | 'array' | 'string' | 'integer' | 'boolean';
  description?: string;
  format?: string;
  default?: DefaultValue;
  enum?: string[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  maxItems?: number;
  pattern?: string;
  items?: StructuralSchema;
  properties?: Record<string, StructuralSchema>;
  required?: string[];
  additionalProperties?: StructuralSchema;
  'x-kubernetes-list-type'?: 'atomic' | 'set' | 'map';
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: { rule: string; message: string }[];
}

type DefaultValue = string | number | boolean | string[] | Record<string, unknown>;
const defaultValue: z.ZodType<DefaultValue> = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.string()),
  z.record(z.string(), z.unknown()),
]);

const whole = z.exactOptional(z.number());
const words = z.exactOptional(z.array(z.string()));

/** Strict: a kind that says something which has no place above fails to be generated, instead of losing it. */
const structuralSchema: z.ZodType<StructuralSchema> = z.lazy(() =>
  z.strictObject({
    description: z.exactOptional(z.string()),
    type: z.enum(['object', 'array', 'string', 'integer', 'boolean']),
    format: z.exactOptional(z.string()),
    default: z.exactOptional(defaultValue),
    enum: words,
    minimum: whole,
    maximum: whole,
    minLength: whole,
    maxLength: whole,
    maxItems: whole,
    // The server reads RE2, which has no look-around.
    pattern: z.exactOptional(z.string().regex(/^(?!.*\(\?[=!<])/)),
    required: words,
    items: z.exactOptional(structuralSchema),
    properties: z.exactOptional(z.record(z.string(), structuralSchema)),
    additionalProperties: z.exactOptional(structuralSchema),
    'x-kubernetes-list-type': z.exactOptional(z.enum(['atomic', 'set', 'map'])),
    'x-kubernetes-list-map-keys': words,
    'x-kubernetes-validations': z.exactOptional(z.array(z.strictObject({ rule: z.string(), message: z.string() }))),
  }),
);

/**
 * The structural schema of a zod schema, as a client may send it: what has a default may be left out.
 * What zod adds on its own goes: the bounds of JavaScript's integers, its long pattern for times (the server knows the format), and
 * `readOnly`.
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
