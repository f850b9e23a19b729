import { type Cause, required, tooLong, tooMany } from '../status/cause.ts';
import { goValue } from './go-text.ts';

/** What is wrong with one value, before it is known where in the object the validated part stands. */
export interface Finding {
  /** Path below the validated root; undefined for what the real server reports without a field. */
  name: string | undefined;
  /** Identifies the finding: the real server reports each text once. */
  text: string;
  cause(field: string): Cause;
}

/** Findings of one schema, and how well the value fitted otherwise: the best of several alternatives is reported. */
export interface Verdict {
  findings: Finding[];
  matches: number;
}

export const verdict = (...findings: Finding[]): Verdict => ({ findings, matches: 0 });

/** Adds what others found; the same text only once. */
export const merge = (into: Verdict, ...others: readonly Verdict[]): Verdict => {
  for (const other of others) {
    into.matches += other.matches;
    for (const finding of other.findings) {
      if (!into.findings.some(({ text }) => text === finding.text)) into.findings.push(finding);
    }
  }
  return into;
};

const found = (name: string, text: string, cause: (field: string) => Cause): Finding => ({ name, text, cause });

export const ofValue = (name: string, value: unknown, text: string): Finding =>
  found(name, text, (field) => ({
    reason: 'FieldValueInvalid',
    message: `Invalid value: ${goValue(value)}: ${text}`,
    field,
  }));

export const ofType = (name: string, type: string, actual: string): Finding => {
  const text = `${name} in body must be of type ${type}: ${goValue(actual)}`;
  return found(name, text, (field) => ({
    reason: 'FieldValueTypeInvalid',
    message: `Invalid value: ${goValue(actual)}: ${text}`,
    field,
  }));
};

export const ofMissing = (name: string): Finding =>
  found(name, `${name} in body is required`, (field) => required(field));

export const ofEnum = (name: string, value: unknown, allowed: readonly unknown[]): Finding =>
  found(name, `${name} in body should be one of ${goValue(allowed)}`, (field) => {
    const supported = allowed.map((entry) => goValue(typeof entry === 'string' ? entry : goValue(entry))).join(', ');
    return {
      reason: 'FieldValueNotSupported',
      message: `Unsupported value: ${goValue(value)}: supported values: ${supported}`,
      field,
    };
  });

export const ofLength = (name: string, maximum: number): Finding =>
  found(name, `${name} in body should be at most ${maximum} chars long`, (field) => tooLong(field, maximum));

export const ofCount = (name: string, what: string, actual: number, maximum: number): Finding =>
  found(name, `${name} in body should have at most ${maximum} ${what}`, (field) => tooMany(field, actual, maximum));

/** Errors that the real server gives no field to. */
export const ofWhole = (text: string): Finding => ({
  name: undefined,
  text,
  cause: (field) => ({ reason: 'FieldValueInvalid', message: `Invalid value: "": ${text}`, field }),
});

/** Causes as a `Status` lists them. `root` is where the validated value stands; '' is the whole object, which has no name. */
export const causesOf = ({ findings }: Verdict, root: string): Cause[] =>
  findings.map((finding) => {
    const name = finding.name?.replace(/^\./, '') ?? '';
    const field = [root, name].filter((part) => part !== '').join('.');
    return finding.cause(field === '' ? '<nil>' : field);
  });
