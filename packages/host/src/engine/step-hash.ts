import { createHash } from 'node:crypto';
import { isArtifact } from '../artifacts/artifact.ts';
import type { HostSpec, Preparation } from '../host-spec.ts';
import { hostSteps } from '../steps/index.ts';
import type { AnyStep, Step } from '../steps/step.ts';
import { memoize, scriptText, stepProgram, stripComments } from './compose-script.ts';

/** Hashes by step. */
export type Stamps = Readonly<Record<string, string>>;

/**
 * A short hash of all stamps of a host. The agent publishes it on its Node, so that the manager can tell whether a host is up to date
 * without a connection.
 */
export const summaryOf = (stamps: Stamps): string => {
  const lines = Object.entries(stamps).map(([step, hash]) => `${step}\t${hash}\n`);
  return createHash('sha256').update(lines.sort().join('')).digest('hex').slice(0, 16);
};

/**
 * The hash of a step: its intent (or that it should be absent), the variables made from it, and its script with the shared parts.
 * Artifacts count by their content. It covers no secret, since a `HostSpec` holds none.
 *
 * Caveat: it does not cover how a payload is built from a secret. A change of that must also change the intent.
 */
export const stepHash = (step: AnyStep, spec: Preparation): string => {
  const intent = step.intent(spec);
  const hash = createHash('sha256');
  const parts = [
    step.name,
    intent === undefined ? 'absent' : canonical(withoutLocalPaths(intent)),
    intent === undefined ? '' : canonical(step.environment(intent)),
    programOf(step.script ?? scriptText(step.name)),
  ];
  for (const part of parts) hash.update(`${Buffer.byteLength(part)}\0${part}`);
  return hash.digest('hex');
};

const programOf = memoize((script) => stripComments(stepProgram(script)));

/** The stamps of an up-to-date host. */
export const wantedStamps = (spec: HostSpec, steps: readonly Step[] = hostSteps): Stamps =>
  Object.fromEntries(steps.map((step) => [step.name, stepHash(step, spec)]));

/** What the agent of an up-to-date host publishes. */
export const summaryHash = (spec: HostSpec): string => summaryOf(wantedStamps(spec));

type Plain = string | number | boolean | null | undefined | readonly Plain[] | { readonly [key: string]: Plain };

/** Only the content of an artifact counts: its name and its local path do not matter to a host. */
const withoutLocalPaths = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutLocalPaths);
  if (typeof value !== 'object' || value === null) return value;
  if (isArtifact(value)) return { sha256: value.sha256 };
  if (![Object.prototype, null].includes(Object.getPrototypeOf(value))) throw new TypeError('an intent is plain data');
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, withoutLocalPaths(inner)]));
};

/** The same text for the same data, whatever the order of keys. */
const canonical = (value: unknown): string =>
  JSON.stringify(value, (_, inner: Plain) => {
    if (typeof inner === 'function') throw new TypeError('an intent is plain data');
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) return inner;
    return Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)));
  });
