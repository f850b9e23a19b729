import { type Cause, required, tooLong, tooMany } from '../../errors/field-errors.ts';
import { goValue } from '../../go/fmt.ts';

/** An error in one value, before the position of the validated part in the object is known. */
export interface ValidationError {
  /** Path below the validated root; undefined for errors that the real server reports without a field. */
  name: string | undefined;
  /** Identifies the error: the real server reports each text once. */
  text: string;
  cause(field: string): Cause;
}

/** Errors of one schema, and a score of how well the value matched: the best of several alternatives is reported. */
export interface ValidationResult {
  errors: ValidationError[];
  matchCount: number;
}

export const resultOf = (...errors: ValidationError[]): ValidationResult => ({ errors, matchCount: 0 });

/** Merges results; the same text only once. */
export const mergeResults = (into: ValidationResult, ...others: readonly ValidationResult[]): ValidationResult => {
  for (const other of others) {
    into.matchCount += other.matchCount;
    for (const finding of other.errors) {
      if (!into.errors.some(({ text }) => text === finding.text)) into.errors.push(finding);
    }
  }
  return into;
};

const validationError = (name: string, text: string, cause: (field: string) => Cause): ValidationError => ({
  name,
  text,
  cause,
});

export const invalidValue = (name: string, value: unknown, text: string): ValidationError =>
  validationError(name, text, (field) => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${goValue(value)}: ${text}`,
    field,
  }));

export const invalidType = (name: string, type: string, actual: string): ValidationError => {
  const text = `${name} in body must be of type ${type}: ${goValue(actual)}`;
  return validationError(name, text, (field) => ({
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${goValue(actual)}: ${text}`,
    field,
  }));
};

export const missingField = (name: string): ValidationError =>
  validationError(name, `${name} in body is required`, (field) => required(field));

export const notInEnum = (name: string, value: unknown, allowed: readonly unknown[]): ValidationError =>
  validationError(name, `${name} in body should be one of ${goValue(allowed)}`, (field) => {
    const supported = allowed.map((entry) => goValue(typeof entry === 'string' ? entry : goValue(entry))).join(', ');
    return {
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${goValue(value)}: supported values: ${supported}`,
      field,
    };
  });

export const tooLongValue = (name: string, maximum: number): ValidationError =>
  validationError(name, `${name} in body should be at most ${maximum} chars long`, (field) => tooLong(field, maximum));

export const tooManyEntries = (name: string, what: string, actual: number, maximum: number): ValidationError =>
  validationError(name, `${name} in body should have at most ${maximum} ${what}`, (field) =>
    tooMany(field, actual, maximum),
  );

/** Errors that the real server reports without a field. */
export const errorWithoutField = (text: string): ValidationError => ({
  name: undefined,
  text,
  cause: (field) => ({ reason: 'FieldValueInvalid', message: `Invalid value: "": ${text}`, field }),
});

/** Causes for a `Status`. `root` is the path of the validated value; '' is the whole object, which has no name. */
export const causesOf = ({ errors }: ValidationResult, root: string): Cause[] =>
  errors.map((finding) => {
    const name = finding.name?.replace(/^\./, '') ?? '';
    const field = [root, name].filter((part) => part !== '').join('.');
    return finding.cause(field === '' ? '<nil>' : field);
  });
