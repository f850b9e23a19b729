import type { z } from 'zod';

/** A CEL rule. `self` is the value, `oldSelf` what it was: a rule that says `oldSelf` is asked on changes only. */
export interface Rule {
  readonly rule: string;
  /** For the person whose change is refused: why, and what to do instead. */
  readonly message: string;
}

/** The schema with rules that the API server enforces. `parse` knows nothing of them. */
export const withRules = <Schema extends z.ZodType>(schema: Schema, rules: readonly Rule[]): Schema =>
  schema.meta({ 'x-kubernetes-validations': rules });

export const immutable = (message: string): Rule => ({ rule: 'self == oldSelf', message });
