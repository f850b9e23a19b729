import type { HostConnection } from '../connection/connection.ts';
import { composeScript } from '../engine/compose-script.ts';
import { executeStep } from '../engine/execute-step.ts';
import type { HostOutcome } from '../engine/host-outcome.ts';
import { readInventory, rebootPending } from '../engine/inventory.ts';
import { acquireLock } from '../engine/lock.ts';
import { hostRedactor } from '../engine/redaction.ts';
import { summaryOf } from '../engine/step-hash.ts';

export type RollBackOutcome =
  | {
      readonly kind: 'rolled back';
      /** Of the remaining stamps, without those of the agent's steps. */
      readonly summary: string;
      readonly rebootPending: boolean;
    }
  /** `step failed`: the host has no previous agent, or it does not run any more. */
  | Exclude<HostOutcome, { readonly kind: 'converged' | 'unsuitable host' }>;

const rollBackStep = {
  name: 'roll-back-agent',
  title: 'roll back the agent',
  // 30 s to unload, 15 s to load, two proofs of 25 s, and a reserve.
  deadline: 120_000,
};

/**
 * Rolls back to the agent that was proven before the running one, with its release and its arguments.
 *
 * Flow: take the lock; delete the stamps of the agent's steps; switch, reload, and verify that a new process stays up; read the inventory.
 * Guarantees: never throws because of a host. May be interrupted anywhere and run again; a second run changes nothing. The stamps of the
 * agent's steps are gone, so that the next update installs the new agent again.
 * Caveats: the host remembers one previous agent only, so that this is useful right after an update of the agent. After an update of other
 * steps it also goes back to the previous agent.
 */
export const rollBackAgent = async (
  connection: Pick<HostConnection, 'run'>,
  owner: string,
  signal?: AbortSignal,
): Promise<RollBackOutcome> => {
  const redact = hostRedactor({});
  const locking = await acquireLock(connection, owner, redact, signal);
  if (locking.kind !== 'acquired') return locking;
  try {
    const variables = { LOCK_OWNER: locking.token, STEP: rollBackStep.name };
    const run = { script: composeScript(rollBackStep.name, variables), payload: undefined };
    const outcome = await executeStep(connection, rollBackStep, 'converge', run, redact, signal);
    if (outcome.kind !== 'finished') return outcome;
  } finally {
    await locking.release();
  }
  const read = await readInventory(connection, signal);
  if (read.kind !== 'read') return read;
  return {
    kind: 'rolled back',
    summary: summaryOf(read.inventory.stamps),
    rebootPending: rebootPending(read.inventory),
  };
};
