import { errorMessage } from '@tartan/kube';
import type { CommandOutcome, HostConnection, RemoteCommand } from '../connection/connection.ts';
import { composeScript, shellCommand } from '../engine/compose-script.ts';
import { type Artifact, describeArtifact, openArtifact } from './artifact.ts';

/** How a push ended. After each of these the host's store holds only complete artifacts. */
export type PushOutcome =
  | { readonly kind: 'pushed' }
  /** Nothing was sent. */
  | { readonly kind: 'already there' }
  /** What happened, why, and what to do. May quote the host: redact it before it is shown. */
  | { readonly kind: 'failed'; readonly problem: string }
  | Exclude<CommandOutcome, EndedCommand>;

type EndedCommand = Extract<CommandOutcome, { kind: 'done' | 'command failed' | 'input failed' }>;

/** Rounded up, so that freeing what the message says is enough. */
const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`;

const problemOf = (outcome: EndedCommand): string => {
  if (outcome.kind === 'input failed') return `it could not be read here: ${outcome.cause}. Prepare the artifact anew`;
  const failed = outcome.kind === 'done' ? { stderr: outcome.stderr, code: 0, signal: undefined } : outcome;
  const end = failed.signal === undefined ? `exit code ${failed.code ?? 'unknown'}` : `signal ${failed.signal}`;
  const lastLine = failed.stderr.trim().split('\n').at(-1) ?? '';
  return `the host refused it (${end})${lastLine === '' ? '' : `: ${lastLine}`}. Try again; see the host's log if it stays`;
};

/** Bytes that stay free on the host (INC-40: a full disk fails every later push). */
const reservedBytes = 1_000_000_000;

/** Milliseconds: a fixed start-up time plus a second per megabyte. The slowest connection to a host is ten times as fast. */
export const pushDeadline = (size: number): number => 120_000 + Math.ceil(size / 1_000);

/** A Mac hashes several hundred megabytes a second. */
const checkDeadline = (size: number): number => 60_000 + Math.ceil(size / 50_000);

/** The words of the last line `result …` of the output. */
const resultOf = ({ stdout }: CommandOutcome): readonly string[] => {
  const [label, ...words] = stdout.trimEnd().split('\n').at(-1)?.split('\t') ?? [];
  return label === 'result' ? words : [];
};

/** Whether the local file has changed since it was described: then the same push would fail forever. */
const localProblem = async ({ file, name, sha256 }: Artifact): Promise<string | undefined> => {
  try {
    const now = await describeArtifact(file, name);
    return now.sha256 === sha256 ? undefined : `${file} changed on our side`;
  } catch (error) {
    return errorMessage(error);
  }
};

const failureOf = async (outcome: CommandOutcome, artifact: Artifact): Promise<PushOutcome> => {
  if (outcome.kind === 'timed out' || outcome.kind === 'connection lost' || outcome.kind === 'aborted') return outcome;
  const failed = (why: string): PushOutcome => ({
    kind: 'failed',
    problem: `${artifact.name} was not pushed: ${why}.`,
  });
  const [word, free, needed] = outcome.kind === 'command failed' ? resultOf(outcome) : [];
  if (word === 'no-space') {
    const missing = megabytes(Number(needed) - Number(free));
    return failed(
      `the host has ${megabytes(Number(free))} free and needs ${megabytes(Number(needed))}. Free ${missing} on it, such as old images, then try again`,
    );
  }
  if (word !== 'broken') return failed(problemOf(outcome));
  const cause = await localProblem(artifact);
  return failed(
    cause === undefined
      ? "it arrived broken, and the host kept nothing of it. Try again; if it stays so, check the host's disk"
      : problemOf({ ...outcome, kind: 'input failed', cause }),
  );
};

/**
 * Puts an artifact into the host's store, where steps find it by its hash.
 * Flow: ask whether the host has it and has room for it; send it to a new file; verify its hash there; rename it.
 * Guarantees: never throws; sends nothing that the host has; a cut connection, a full disk or a corrupted byte leaves the store unchanged;
 * concurrent pushes of the same artifact do not disturb each other.
 */
export const pushArtifact = async (
  connection: HostConnection,
  artifact: Artifact,
  /** `isMissing`: the inventory shows that the host lacks it, so the host is not asked. */
  { signal, isMissing = false }: { readonly signal?: AbortSignal | undefined; readonly isMissing?: boolean } = {},
): Promise<PushOutcome> => {
  const run = (verb: 'look' | 'receive', rest: Omit<RemoteCommand, 'command'>): Promise<CommandOutcome> => {
    const script = composeScript('push-artifact', {
      VERB: verb,
      SHA256: artifact.sha256,
      SIZE: String(artifact.size),
      RESERVE: String(reservedBytes),
    });
    return connection.run({ command: shellCommand(script, { asRoot: true }), ...rest }, signal);
  };
  if (!isMissing) {
    const looked = await run('look', { deadline: checkDeadline(artifact.size) });
    const [found] = resultOf(looked);
    if (looked.kind === 'done' && found === 'have') return { kind: 'already there' };
    if (looked.kind !== 'done' || found !== 'lack') return failureOf(looked, artifact);
  }
  const received = await run('receive', {
    deadline: pushDeadline(artifact.size),
    stdin: () => openArtifact(artifact),
  });
  const isStored = received.kind === 'done' && resultOf(received)[0] === 'stored';
  return isStored ? { kind: 'pushed' } : failureOf(received, artifact);
};
