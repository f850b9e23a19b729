import { createHash } from 'node:crypto';
import { createLruCache } from '@tartan/kube';
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
  const varying = withLengths([
    step.name,
    intent === undefined ? 'absent' : canonical(intent),
    intent === undefined ? '' : canonical(step.environment(intent)),
  ]);
  const key = `${varying}${step.script ?? ''}`;
  const known = recentHashes.get(key);
  if (known !== undefined) return known;
  const program = withLengths([programOf(step.script ?? scriptText(step.name))]);
  const hash = createHash('sha256').update(varying).update(program).digest('hex');
  recentHashes.set(key, hash);
  return hash;
};

/** Most steps are the same for all hosts of a fleet, and hashing the scripts is slow. */
const recentHashes = createLruCache<string>(256);

const withLengths = (parts: readonly string[]): string =>
  parts.map((part) => `${Buffer.byteLength(part)}\0${part}`).join('');

const programOf = memoize((script) => stripComments(stepProgram(script)));

/** The stamps of an up-to-date host. */
export const wantedStamps = (spec: HostSpec, steps: readonly Step[] = hostSteps): Stamps =>
  Object.fromEntries(steps.map((step) => [step.name, stepHash(step, spec)]));

/** What the agent of an up-to-date host publishes. */
export const summaryHash = (spec: HostSpec): string => summaryOf(wantedStamps(spec));

/**
 * JSON, the same for the same data whatever the order of keys. Of an artifact only its content counts: its name and its local path do not
 * matter to a host. Written in one go, since this runs for each step of each host.
 */
const canonical = (value: unknown): string => {
  if (typeof value === 'function') throw new TypeError('an intent is plain data');
  if (typeof value !== 'object' || value === null) return JSON.stringify(value ?? null);
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (isArtifact(value)) return `{"sha256":${JSON.stringify(value.sha256)}}`;
  if (![Object.prototype, null].includes(Object.getPrototypeOf(value))) throw new TypeError('an intent is plain data');
  const members = Object.entries(value)
    .filter(([, member]) => member !== undefined)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member)}`);
  return `{${members.join()}}`;
};
