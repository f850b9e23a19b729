import type { CommandOutcome, HostConnection, RemoteCommand } from '../connection/connection.ts';
import { composeScript, shellCommand } from '../engine/compose-script.ts';
import { type Artifact, describeArtifact, openArtifact } from './artifact.ts';

/** How a push ended. After any of them, the store of the host holds only whole artifacts. */
export type PushOutcome =
  | { readonly kind: 'pushed' }
  /** The host has it, whole. Nothing was sent. */
  | { readonly kind: 'already there' }
  /** In bytes; `needed` counts what must stay free. */
  | { readonly kind: 'no space'; readonly free: number; readonly needed: number }
  /** The host got something else than what lies here. */
  | { readonly kind: 'arrived broken' }
  | { readonly kind: 'not pushed'; readonly outcome: FailedCommand };

type FailedCommand = Exclude<CommandOutcome, { kind: 'done' }>;

/** Rounded up where more is needed, so that freeing what is said is enough. */
const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`;

const describeFailure = (outcome: FailedCommand): string => {
  switch (outcome.kind) {
    case 'command failed': {
      const end = outcome.signal === undefined ? `exit code ${outcome.code ?? 'unknown'}` : `signal ${outcome.signal}`;
      const said = outcome.stderr.trim().split('\n').at(-1) ?? '';
      return `the host refused it (${end})${said === '' ? '' : `: ${said}`}. Try again; see the host's log if it stays`;
    }
    case 'timed out':
      return `it took longer than ${outcome.after / 1000} s. Look at the network to the host, then try again`;
    case 'connection lost':
      return `the connection was lost (${outcome.cause}). Try again`;
    case 'input failed':
      return `it could not be read here: ${outcome.cause}. Prepare the artifact anew`;
    case 'aborted':
      return 'it was aborted. Try again';
  }
};

/** What happened, why, and what to do; `undefined` when all is well. May quote the host: redact it before it is shown. */
export const pushProblem = ({ name }: Artifact, outcome: PushOutcome): string | undefined => {
  switch (outcome.kind) {
    case 'pushed':
    case 'already there':
      return undefined;
    case 'no space':
      return `${name} was not pushed: the host has ${megabytes(outcome.free)} free and needs ${megabytes(outcome.needed)}. Free ${megabytes(outcome.needed - outcome.free)} on it, such as old images, then try again.`;
    case 'arrived broken':
      return `${name} was not pushed: it arrived broken, and the host kept nothing of it. Try again; if it stays so, check the host's disk.`;
    case 'not pushed':
      return `${name} was not pushed: ${describeFailure(outcome.outcome)}.`;
  }
};

export interface PushOptions {
  readonly signal?: AbortSignal;
  /** The host has just been seen to lack it: it is not asked again. */
  readonly isMissing?: boolean;
  /** Bytes that stay free on the host (INC-40: a full disk fails every later push). */
  readonly reserve?: number;
}

const defaultReserve = 1_000_000_000;

/** Milliseconds: time to start with, and then at least a megabyte a second. The slowest way to a host is ten times as fast. */
export const pushDeadline = (size: number): number => 120_000 + Math.ceil(size / 1_000);

/** A Mac hashes several hundred megabytes a second. */
const checkDeadline = (size: number): number => 60_000 + Math.ceil(size / 50_000);

/** The words of the last line `result …` that the script said. */
const resultOf = ({ stdout }: CommandOutcome): readonly string[] => {
  const [label, ...words] = stdout.trimEnd().split('\n').at(-1)?.split('\t') ?? [];
  return label === 'result' ? words : [];
};

const failureOf = (outcome: CommandOutcome): PushOutcome => {
  const [word, free, needed] = resultOf(outcome);
  if (outcome.kind === 'command failed') {
    if (word === 'no-space') return { kind: 'no space', free: Number(free), needed: Number(needed) };
    if (word === 'broken') return { kind: 'arrived broken' };
  }
  return {
    kind: 'not pushed',
    outcome: outcome.kind === 'done' ? { ...outcome, kind: 'command failed', code: 0 } : outcome,
  };
};

/** What arrived broken may have been broken here: then the same push would fail forever. */
const changedLocally = async (artifact: Artifact): Promise<FailedCommand | undefined> => {
  const output = { stdout: '', stderr: '' };
  try {
    const { sha256 } = await describeArtifact(artifact.file, artifact.name);
    if (sha256 === artifact.sha256) return undefined;
    return { kind: 'input failed', cause: `${artifact.file} changed on our side`, ...output };
  } catch (error) {
    return { kind: 'input failed', cause: error instanceof Error ? error.message : String(error), ...output };
  }
};

/**
 * Puts an artifact into the host's store, where steps find it by its hash.
 * Flow: ask whether the host has it and has room for it; if it lacks it, send it to a new file, have it verified there, rename it.
 * Guarantees: never throws; not a byte is sent of what the host has; a cut, a full disk or a broken byte leaves the store as it was;
 * pushers of the same artifact do not disturb each other.
 */
export const pushArtifact = async (
  connection: HostConnection,
  artifact: Artifact,
  { signal, isMissing = false, reserve = defaultReserve }: PushOptions = {},
): Promise<PushOutcome> => {
  const run = (verb: 'look' | 'receive', rest: Omit<RemoteCommand, 'command'>): Promise<CommandOutcome> => {
    const script = composeScript('push-artifact', {
      VERB: verb,
      SHA256: artifact.sha256,
      SIZE: String(artifact.size),
      RESERVE: String(reserve),
    });
    return connection.run({ command: shellCommand(script, { asRoot: true }), ...rest }, signal);
  };
  if (!isMissing) {
    const looked = await run('look', { deadline: checkDeadline(artifact.size) });
    const [found] = resultOf(looked);
    if (looked.kind === 'done' && found === 'have') return { kind: 'already there' };
    if (looked.kind !== 'done' || found !== 'lack') return failureOf(looked);
  }
  const received = await run('receive', {
    deadline: pushDeadline(artifact.size),
    stdin: () => openArtifact(artifact),
  });
  if (received.kind === 'done' && resultOf(received)[0] === 'stored') return { kind: 'pushed' };
  const refused = failureOf(received);
  const changed = refused.kind === 'arrived broken' ? await changedLocally(artifact) : undefined;
  return changed ? { kind: 'not pushed', outcome: changed } : refused;
};
