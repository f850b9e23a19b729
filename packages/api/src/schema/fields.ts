import { z } from 'zod';

/** A CEL rule. `self` is the new value, `oldSelf` the previous one: a rule with `oldSelf` is evaluated only on updates. */
export interface CelRule {
  readonly rule: string;
  /** For the user whose change is rejected: why, and what to do instead. */
  readonly message: string;
}

/** The schema with rules that the API server enforces. `parse` ignores them. */
export const withRules = <Schema extends z.ZodType>(schema: Schema, rules: readonly CelRule[]): Schema =>
  schema.meta({ 'x-kubernetes-validations': rules });

export const immutable = (message: string): CelRule => ({ rule: 'self == oldSelf', message });

/**
 * Fields that many kinds have. Every text has a maximum length, since the API server estimates the cost of a CEL rule from it.
 * `exactOptional`: a member is absent, but never `undefined`.
 */

const maxNameLength = 253;

export const text = (description: string, longest = maxNameLength): z.ZodString =>
  z.string().max(longest).describe(description);

/** A text that must not be empty. */
export const requiredText = (description: string, longest = maxNameLength): z.ZodString =>
  z.string().min(1).max(longest).describe(description);

export const time = (description: string): z.ZodISODateTime => z.iso.datetime({ offset: true }).describe(description);

export const flag = (description: string): z.ZodBoolean => z.boolean().describe(description);

export const count = (description: string, least = 0): z.ZodInt =>
  z.int().min(least).meta({ description, format: 'int32' });

export const optional = <Schema extends z.ZodType>(schema: Schema): z.ZodExactOptional<Schema> =>
  z.exactOptional(schema);

export const observedGeneration = (): z.ZodInt =>
  z.int().meta({ description: 'The generation of the object that this status speaks of.', format: 'int64' });

const condition = z.object({
  type: z
    .string()
    .max(316)
    .regex(
      /^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*\/)?(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])$/,
    )
    .describe('What the condition is about.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it holds.'),
  reason: z
    .string()
    .min(1)
    .max(1024)
    .regex(/^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$/)
    .describe('Why, in one word for programs. docs/reference/conditions.md lists them.'),
  message: z.string().max(32_768).describe('Why, in sentences for people.'),
  lastTransitionTime: time('When the status changed last.'),
  observedGeneration: optional(
    z.int().min(0).meta({ description: 'The generation of the object that this speaks of.', format: 'int64' }),
  ),
});

/** metav1.Condition, one per type. */
export const conditions = () =>
  z
    .array(condition)
    .readonly()
    .meta({
      description: 'What is known about the object: one entry per type.',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    });

/** Cluster API copies these to `Machine.status.addresses`. */
export const addresses = () =>
  z
    .array(
      z.object({
        type: z
          .enum(['Hostname', 'ExternalIP', 'InternalIP', 'ExternalDNS', 'InternalDNS'])
          .describe('What kind of address it is.'),
        address: requiredText('The address.', 256),
      }),
    )
    .readonly()
    .meta({ description: 'How the Mac is reached.', 'x-kubernetes-list-type': 'atomic' });

export const immutableZone = (description: string): z.ZodString =>
  withRules(requiredText(description, 63), [immutable('a Mac does not move to another zone: this is for ever')]);
