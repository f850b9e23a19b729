import type { Redactor } from '@tartan/kube';
import { type Clock, systemClock } from '@tartan/kube/clock';
import type { HostConnection } from '../connection/connection.ts';
import type { HostSecrets, HostSpec, OnDemandSecrets, Preparation } from '../host-spec.ts';
import { stepsOf } from '../steps/index.ts';
import type { AnyStep } from '../steps/step.ts';
import { composeScript, shellCommand } from './compose-script.ts';
import { stepErrorOf } from './execute-step.ts';
import type { Deferred, HostEvent, HostOutcome } from './host-outcome.ts';
import { type Inventory, readInventory, rebootPending } from './inventory.ts';
import { acquireLock } from './lock.ts';
import { type ConvergeContext, performAction } from './perform-action.ts';
import { type Action, type Garbage, garbageOn, type Mode, plan } from './plan.ts';
import { preflight } from './preflight.ts';
import { hostRedactor } from './redaction.ts';
import { StepError } from './step-error.ts';
import { stepHash, summaryOf } from './step-hash.ts';

const hasNoGarbage = ({ artifacts, stamps, staleRebootMark }: Garbage): boolean =>
  artifacts.length === 0 && stamps.length === 0 && !staleRebootMark;

const removeGarbageStep = { name: 'tidy', title: 'remove unused files' };

/** Removes garbage from a host. A failure is harmless: the next run tries again. */
const removeGarbage = async (
  connection: Pick<HostConnection, 'run'>,
  { artifacts, stamps, staleRebootMark }: Garbage,
  lockOwner: string,
  redact: Redactor,
  signal?: AbortSignal,
): Promise<StepError | undefined> => {
  const script = composeScript('tidy', {
    ARTIFACTS: artifacts.join(' '),
    STAMPS: stamps.join(' '),
    REBOOT_MARK: staleRebootMark ? 'yes' : 'no',
    LOCK_OWNER: lockOwner,
    STEP: removeGarbageStep.name,
  });
  const outcome = await connection.run({ command: shellCommand(script, { asRoot: true }), deadline: 60_000 }, signal);
  if (outcome.kind === 'done') return undefined;
  const exitCode = outcome.kind === 'command failed' ? outcome.code : undefined;
  return new StepError(
    removeGarbageStep,
    { failure: 'rejected', exitCode, output: outcome.stderr || outcome.kind },
    redact,
  );
};

export interface ConvergeOptions {
  /** The owner of the host's lock: unique among running processes. */
  readonly owner: string;
  /** No virtual machine runs on the host. */
  readonly idle: boolean;
  readonly mode?: Mode;
  /** Secrets that are fetched only if their step needs them. */
  readonly onDemandSecrets?: OnDemandSecrets;
  readonly report?: (event: HostEvent) => void;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  /** Default: those of the specification. */
  readonly steps?: readonly AnyStep[];
}

const defaults = {
  mode: 'changed',
  onDemandSecrets: {},
  report: () => {},
  clock: systemClock,
} as const;

/**
 * Makes a host match its specification: at first boot, in a rollout and for a repair.
 *
 * Flow: read the inventory; reject an unsuitable host; plan. Unprivileged steps run first. Then take the lock, and read the inventory and
 * plan again, since another process may have changed the host; run each step in order; read the inventory a last time. A host that is up
 * to date costs one command and takes no lock.
 *
 * Guarantees: never throws because of a host; an invalid specification is a `TypeError` before the first command. Each step checks before
 * it changes anything, verifies its effect, and is stamped only then. One process works on a host at a time. Stamps in the outcome are
 * read from the host at the end. May be interrupted anywhere and run again. The outcome holds no secret.
 *
 * Assumptions: `owner` is unique among running processes. `idle` stays true while this runs.
 *
 * Caveats: an interrupted or timed-out command may continue on the host; the lock stays taken until it has ended, or for half an hour.
 * Unprivileged steps run without the lock, possibly twice at once; each is atomic.
 */
export const convergeHost = async (
  connection: HostConnection,
  spec: HostSpec | Preparation,
  secrets: HostSecrets,
  options: ConvergeOptions,
): Promise<HostOutcome> => {
  const redact = hostRedactor(secrets);
  const given = { ...defaults, steps: stepsOf(spec), ...options };
  const { steps, clock, signal } = given;
  const session: Session = {
    ...given,
    connection,
    spec,
    secrets,
    redact,
    deferred: [],
    optionalFailures: [],
    planFor: (inventory) => plan(inventory, spec, { ...given, transport: connection.address.transport }),
  };

  const before = await readInventory(connection, signal, redact);
  if (before.kind !== 'read') return before;
  const actions = session.planFor(before.inventory);
  const objections = preflight(before.inventory, spec, actions, clock.now());
  if (objections.length > 0) return { kind: 'unsuitable host', objections };
  if (actions.length === 0 && hasNoGarbage(garbageOn(before.inventory, spec, steps)))
    return converged(before.inventory, session);

  const ended = await perform(actions.filter(isUnprivileged), '', session);
  if (ended !== undefined) return ended;

  const locking = await acquireLock(connection, options.owner, redact, signal);
  if (locking.kind !== 'acquired') return locking;
  try {
    return await underLock(locking.token, session);
  } finally {
    await locking.release();
  }
};

/** One run over the steps of a host. */
interface Session extends ConvergeContext {
  readonly steps: readonly AnyStep[];
  readonly planFor: (inventory: Inventory) => Action[];
  readonly deferred: Deferred[];
  readonly optionalFailures: StepError[];
}

const isUnprivileged = ({ step }: Action): boolean => step.unprivileged === true;

const underLock = async (lockOwner: string, session: Session): Promise<HostOutcome> => {
  const { connection, spec, steps, signal, redact, deferred, optionalFailures } = session;
  const now = await readInventory(connection, signal, redact);
  if (now.kind !== 'read') return now;
  const actions = session.planFor(now.inventory).filter((action) => !isUnprivileged(action));
  const ended = await perform(actions, lockOwner, session);
  if (ended !== undefined) return ended;

  const after = await readInventory(connection, signal, redact);
  if (after.kind !== 'read') return after;
  const { inventory } = after;
  const unfinished = new Set([...deferred, ...optionalFailures].map(({ step }) => step));
  for (const step of steps) {
    if (unfinished.has(step.name) || inventory.stamps[step.name] === stepHash(step, spec)) continue;
    const error = new StepError(step, { failure: 'not stamped', output: '' }, redact);
    if (step.optional !== true) return { kind: 'step failed', error };
    optionalFailures.push(error);
  }
  const garbage = garbageOn(inventory, spec, steps);
  if (deferred.length + optionalFailures.length > 0 || hasNoGarbage(garbage)) return converged(inventory, session);
  const error = await removeGarbage(connection, garbage, lockOwner, redact, signal);
  if (error === undefined) return converged(withoutStamps(inventory, garbage.stamps), session);
  optionalFailures.push(error);
  return converged(inventory, session);
};

const withoutStamps = (inventory: Inventory, names: readonly string[]): Inventory => ({
  ...inventory,
  stamps: Object.fromEntries(Object.entries(inventory.stamps).filter(([name]) => !names.includes(name))),
});

const converged = (inventory: Inventory, { deferred, optionalFailures }: Session): HostOutcome => ({
  kind: 'converged',
  stamps: inventory.stamps,
  summary: summaryOf(inventory.stamps),
  rebootPending: rebootPending(inventory),
  deferred,
  optionalFailures,
});

/** Carries actions out until one ends the run. */
const perform = async (
  actions: readonly Action[],
  lockOwner: string,
  session: Session,
): Promise<HostOutcome | undefined> => {
  for (const action of actions) {
    const { step, deferReason } = action;
    const outcome = await performAction(action, lockOwner, session);
    if (outcome.kind === 'finished') {
      if (outcome.result === 'deferred' && deferReason !== undefined)
        session.deferred.push({ step: step.name, reason: deferReason });
      continue;
    }
    const error = stepErrorOf(step, outcome, session.redact);
    // No other step may run without the lock.
    if (error === undefined || step.optional !== true || error.failure === 'lock lost') return outcome;
    session.optionalFailures.push(error);
  }
  return undefined;
};
