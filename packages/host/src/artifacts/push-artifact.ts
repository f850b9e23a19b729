import type { CommandOutcome, HostConnection, RemoteCommand } from '../connection/connection.ts';
import { composeScript } from '../engine/compose-script.ts';
import { shellCommand } from '../engine/shell-command.ts';
import type { Artifact } from './artifact.ts';
import { artifactOf } from './artifact-of.ts';
import { openArtifact } from './open-artifact.ts';
import type { FailedCommand, PushOutcome } from './push-outcome.ts';

export interface PushOptions {
  readonly signal?: AbortSignal;
  /** The host has just been seen to lack it: it is not asked again. */
  readonly isLacking?: boolean;
  /** Bytes that stay free on the host (I-69: a full disk fails every later push). */
  readonly reserve?: number;
}

const defaultReserve = 1_000_000_000;

/** Milliseconds: time to start with, and then at least a megabyte a second. The slowest way to a host is ten times as fast. */
export const pushDeadline = (size: number): number => 120_000 + Math.ceil(size / 1_000);

/** A Mac hashes several hundred megabytes a second. */
const lookDeadline = (size: number): number => 60_000 + Math.ceil(size / 50_000);

/** The words of the last line `result …` that the script said. */
const resultOf = ({ stdout }: CommandOutcome): readonly string[] => {
  const [label, ...words] = stdout.trimEnd().split('\n').at(-1)?.split('\t') ?? [];
  return label === 'result' ? words : [];
};

const refusal = (outcome: CommandOutcome): PushOutcome => {
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
const changedHere = async (artifact: Artifact): Promise<FailedCommand | undefined> => {
  const output = { stdout: '', stderr: '' };
  try {
    const { sha256 } = await artifactOf(artifact.file, artifact.name);
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
  { signal, isLacking = false, reserve = defaultReserve }: PushOptions = {},
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
  if (!isLacking) {
    const looked = await run('look', { deadline: lookDeadline(artifact.size) });
    const [found] = resultOf(looked);
    if (looked.kind === 'done' && found === 'have') return { kind: 'already there' };
    if (looked.kind !== 'done' || found !== 'lack') return refusal(looked);
  }
  const received = await run('receive', {
    deadline: pushDeadline(artifact.size),
    stdin: () => openArtifact(artifact),
  });
  if (received.kind === 'done' && resultOf(received)[0] === 'stored') return { kind: 'pushed' };
  const refused = refusal(received);
  const changed = refused.kind === 'arrived broken' ? await changedHere(artifact) : undefined;
  return changed ? { kind: 'not pushed', outcome: changed } : refused;
};
