/** Describes a value of the chart once, for `values.yaml`, `values.schema.json` and `docs/reference/values.md`. */

export interface Leaf {
  readonly kind: 'leaf';
  readonly description: string;
  readonly default: unknown;
  /** Its schema, without description and default. */
  readonly schema: Readonly<Record<string, unknown>>;
}

export interface Group {
  readonly kind: 'group';
  readonly description: string;
  readonly members: Readonly<Record<string, Value>>;
}

export type Value = Leaf | Group;

const leaf =
  (schema: Record<string, unknown>) =>
  (description: string, byDefault: unknown, more: Record<string, unknown> = {}): Leaf => ({
    kind: 'leaf',
    description,
    default: byDefault,
    schema: { ...schema, ...more },
  });

/** Each takes a description, as in the custom resources. `more` has further keywords of JSON Schema. */
export const text = leaf({ type: 'string' });
export const flag = leaf({ type: 'boolean' });
export const integer = leaf({ type: 'integer', minimum: 0 });
/** A number of Macs, or a percentage of the fleet. */
export const countOrPercent = leaf({
  oneOf: [
    { type: 'integer', minimum: 0 },
    { type: 'string', pattern: '^(100|[1-9]?[0-9])%$' },
  ],
});
/** Labels, annotations and the like. */
export const stringMap = leaf({ type: 'object', additionalProperties: { type: 'string' } });
export const stringList = leaf({ type: 'array', items: { type: 'string' } });
/** Copied unchanged: the API server validates it. */
export const objects = leaf({ type: 'array', items: { type: 'object' } });
export const object = leaf({ type: 'object' });

export const choice = (description: string, byDefault: string, choices: readonly string[]): Leaf =>
  text(description, byDefault, { enum: choices });

export const group = (description: string, members: Readonly<Record<string, Value>>): Group => ({
  kind: 'group',
  description,
  members,
});

/** Valid names of Kubernetes objects, or empty. */
export const objectOrEmpty = { pattern: '^([a-z0-9]([-a-z0-9.]*[a-z0-9])?)?$', maxLength: 253 } as const;
/** Names that are parts of others, or labels. */
export const nameOrEmpty = { pattern: '^([a-z0-9]([-a-z0-9]*[a-z0-9])?)?$', maxLength: 63 } as const;
/** Ends with a dash: `tuist-pool-` must not match `tuist-pooling`. */
export const prefixOrEmpty = { pattern: '^([a-z0-9][-a-z0-9]*-)?$', maxLength: 63 } as const;

/** A quantity of Kubernetes that is not negative, as text or as a number, or empty. */
export const quantityOrEmpty = leaf({
  type: ['string', 'number'],
  pattern: '^([+]?([0-9]+([.][0-9]*)?|[.][0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?)?$',
  minimum: 0,
});
