import type { Redactor } from '@tartan/kube';
import type { HostConnection } from '../connection/connection.ts';
import { composeScript, shellCommand } from '../engine/compose-script.ts';
import { type Interrupted, interruptedBy } from '../engine/host-outcome.ts';
import { readInventory, rebootPending } from '../engine/inventory.ts';
import { acquireLock, type Locked, lockStep } from '../engine/lock.ts';
import { hostRedactor } from '../engine/redaction.ts';
import { failureOfExitCode, StepError } from '../engine/step-error.ts';
import { summaryOf } from '../engine/step-hash.ts';

export type RollBackOutcome =
  | {
      readonly kind: 'rolled back';
      /** Of the stamps that are left: those of the agent's steps are gone. */
      readonly summary: string;
      readonly rebootPending: boolean;
    }
  /** There is nothing to go back to, or it does not run any more. */
  | { readonly kind: 'step failed'; readonly error: StepError }
  | Locked
  | { readonly kind: 'unreadable host'; readonly cause: string }
  | Interrupted;

const rollBackStep = { name: 'roll-back-agent', title: 'put back the agent that ran before' };

/** 30 s to unload, 15 s to load, two proofs of 25 s, and some to spare. */
const deadline = 120_000;

/**
 * Puts back the agent that was proven before the one that runs: release and arguments together, as they ran.
 *
 * Flow: take the lock; drop the stamps of the agent's steps; switch, reload, and see a new process stay; read the inventory.
 * Guarantees: never throws for what a host does. May be cut anywhere and run again; one that has gone back stays where it is. The host
 * no longer bears the stamps of what it went back from, so that the next push brings it there anew, and nobody takes it for rolled.
 * Caveats: one way back is remembered, so that it is only of use right after a roll that changed the agent. After one that changed
 * other steps alone it goes back to the agent before, too.
 */
export const rollBackAgent = async (
  connection: Pick<HostConnection, 'run'>,
  owner: string,
  signal?: AbortSignal,
): Promise<RollBackOutcome> => {
  const redact = hostRedactor({});
  const locking = await acquireLock(connection, owner, signal);
  if (locking.kind === 'refused') {
    const details = { failure: 'rejected', exitCode: locking.code, output: locking.stderr } as const;
    return { kind: 'step failed', error: new StepError(lockStep, details, redact) };
  }
  if (locking.kind !== 'acquired') return locking;
  try {
    const failed = await runRollBack(connection, locking.lock.token, redact, signal);
    if (failed !== undefined) return failed;
  } finally {
    await locking.lock.release();
  }
  const read = await readInventory(connection, signal);
  if (read.kind === 'unreadable') return { kind: 'unreadable host', cause: redact.text(read.cause) };
  if (read.kind !== 'read') return read;
  return {
    kind: 'rolled back',
    summary: summaryOf(read.inventory.stamps),
    rebootPending: rebootPending(read.inventory),
  };
};

/** An outcome only when it went wrong. */
const runRollBack = async (
  connection: Pick<HostConnection, 'run'>,
  lockOwner: string,
  redact: Redactor,
  signal?: AbortSignal,
): Promise<RollBackOutcome | undefined> => {
  const script = composeScript(rollBackStep.name, { LOCK_OWNER: lockOwner, STEP: rollBackStep.name });
  const outcome = await connection.run({ command: shellCommand(script, { asRoot: true }), deadline }, signal);
  if (outcome.kind === 'command failed') {
    const { code: exitCode, signal: killedBy, stderr: output } = outcome;
    const details = { failure: failureOfExitCode(exitCode), exitCode, signal: killedBy, output };
    return { kind: 'step failed', error: new StepError(rollBackStep, details, redact) };
  }
  if (outcome.kind !== 'done') return interruptedBy(outcome, rollBackStep.name);
  if (/(?:^|\n)result\t(?:applied|unchanged)\n$/.test(outcome.stdout)) return undefined;
  const output = `${outcome.stdout}\n${outcome.stderr}`;
  return { kind: 'step failed', error: new StepError(rollBackStep, { failure: 'no result', output }, redact) };
};
