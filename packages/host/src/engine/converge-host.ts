import { type Clock, systemClock } from '@tartan/kube/clock';
import type { HostConnection } from '../connection/connection.ts';
import type { HostSecrets, HostSpec, LateSecrets, Preparation } from '../spec/host-spec.ts';
import { hostSteps } from '../steps/index.ts';
import type { AnyStep, Step } from '../steps/step.ts';
import type { HostEvent, HostOutcome } from './host-outcome.ts';
import { type Inventory, type InventoryOutcome, readInventory, rebootPending } from './inventory.ts';
import { acquireLock, theLock } from './lock.ts';
import { performAction, type Session } from './perform-action.ts';
import { type Action, leftovers, type Mode, plan } from './plan.ts';
import { preFlight } from './pre-flight.ts';
import { hostRedactor } from './redaction.ts';
import { StepError } from './step-error.ts';
import { stepHash } from './step-hash.ts';
import { summaryOf } from './summary.ts';
import { isTidy, tidy } from './tidy.ts';
import { createWorkLog, type WorkLog } from './work-log.ts';

export interface ConvergeOptions {
  /** Of the host's lock: a name that no other living pusher has. */
  readonly owner: string;
  /** Whether no virtual machine runs on the host. */
  readonly idle: boolean;
  readonly mode?: Mode;
  /** Beside those that are given. What one of them says goes to its step alone, and is as secret. */
  readonly lateSecrets?: LateSecrets;
  readonly report?: (event: HostEvent) => void;
  readonly clock?: Clock;
  readonly signal?: AbortSignal;
  /** A part of the list, or that of a test; else all of them. */
  readonly steps?: readonly Step[];
}

/** With what is known before the Mac is anybody's Node. */
interface PrepareOptions extends ConvergeOptions {
  readonly steps: readonly AnyStep[];
}

/**
 * Makes a host what its specification says: first boot, roll and repair alike.
 *
 * Flow: read the inventory; refuse a host that cannot become ours; plan. Steps that give us root run first. Then the lock, the
 * inventory and the plan once more, as another pusher may have been there in between; each step in order; the inventory a last time.
 * A host with nothing to do costs one command and takes no lock.
 *
 * Guarantees: never throws for what a host does; a specification that no host can have, such as a network that is none, is a
 * `TypeError` before the first command. Each step looks before it changes anything, proves its effect, and is stamped only
 * then. Of two pushers one works; the other hears who. Stamps in the outcome are those that the host reports afterwards. May be cut
 * anywhere, on either side, and run again. No secret is in anything that comes back.
 *
 * Assumptions: `owner` is unique among living pushers. `idle` stays true while this runs: whoever says so keeps virtual machines away.
 *
 * Caveats: a command that was cut or timed out may go on on the host; nobody gets the lock until it has ended, or half an hour has
 * passed. Steps before the lock (those that give us root) can run twice at once; each is atomic by itself.
 */
export function convergeHost(
  connection: HostConnection,
  spec: HostSpec,
  secrets: HostSecrets,
  options: ConvergeOptions,
): Promise<HostOutcome>;
export function convergeHost(
  connection: HostConnection,
  spec: Preparation,
  secrets: HostSecrets,
  options: PrepareOptions,
): Promise<HostOutcome>;
export async function convergeHost(
  connection: HostConnection,
  spec: Preparation,
  secrets: HostSecrets,
  options: ConvergeOptions,
): Promise<HostOutcome> {
  const { clock = systemClock, steps = hostSteps, mode = 'changed', lateSecrets = {}, idle, signal } = options;
  const redact = hostRedactor(secrets);
  const report = options.report ?? ((): void => {});
  const session: Session = { connection, spec, secrets, lateSecrets, idle, redact, clock, report, signal };
  const work = createWorkLog();
  const planFor = (inventory: Inventory): Action[] =>
    plan(inventory, spec, { idle, mode, steps, transport: connection.address.transport });

  const before = await readInventory(connection, signal);
  if (before.kind !== 'read') return notRead(before, work, session);
  const actions = planFor(before.inventory);
  const objections = preFlight(before.inventory, spec, actions, clock.now());
  if (objections.length > 0) return { kind: 'unsuitable host', objections };
  if (actions.length === 0 && isTidy(leftovers(before.inventory, spec, steps)))
    return converged(before.inventory, work);

  const ended = await perform(actions.filter(isUnprivileged), '', work, session);
  if (ended !== undefined) return ended;

  const locking = await acquireLock(connection, options.owner, signal);
  if (locking.kind === 'locked') return locking;
  if (locking.kind === 'refused') {
    const details = { failure: 'rejected', exitCode: locking.code, said: locking.stderr } as const;
    return { kind: 'step failed', error: new StepError(theLock, details, redact), ...work.done() };
  }
  if (locking.kind !== 'acquired') return { ...locking, ...work.done() };
  try {
    return await underLock(locking.lock.token, planFor, steps, work, session);
  } finally {
    await locking.lock.release();
  }
}

const isUnprivileged = ({ step }: Action): boolean => step.unprivileged === true;

const underLock = async (
  lockOwner: string,
  planFor: (inventory: Inventory) => Action[],
  steps: readonly Step[],
  work: WorkLog,
  session: Session,
): Promise<HostOutcome> => {
  const { connection, spec, signal, redact } = session;
  const now = await readInventory(connection, signal);
  if (now.kind !== 'read') return notRead(now, work, session);
  const actions = planFor(now.inventory).filter((action) => !isUnprivileged(action));
  const ended = await perform(actions, lockOwner, work, session);
  if (ended !== undefined) return ended;

  const after = await readInventory(connection, signal);
  if (after.kind !== 'read') return notRead(after, work, session);
  for (const step of steps) {
    if (work.isUnfinished(step.name) || after.inventory.stamps[step.name] === stepHash(step, spec)) continue;
    const error = new StepError(step, { failure: 'not stamped', said: '' }, redact);
    if (step.optional !== true) return { kind: 'step failed', error, ...work.done() };
    work.failedOptionally(error);
  }
  const left = leftovers(after.inventory, spec, steps);
  if (!work.isWhole() || isTidy(left)) return converged(after.inventory, work);
  const error = await tidy(connection, left, lockOwner, redact, signal);
  if (error === undefined) return converged(withoutStamps(after.inventory, left.stamps), work);
  work.failedOptionally(error);
  return converged(after.inventory, work);
};

const withoutStamps = (inventory: Inventory, names: readonly string[]): Inventory => ({
  ...inventory,
  stamps: Object.fromEntries(Object.entries(inventory.stamps).filter(([name]) => !names.includes(name))),
});

const converged = (inventory: Inventory, work: WorkLog): HostOutcome => ({
  kind: 'converged',
  stamps: inventory.stamps,
  summary: summaryOf(inventory.stamps),
  rebootPending: rebootPending(inventory),
  ...work.done(),
});

const notRead = (
  outcome: Exclude<InventoryOutcome, { kind: 'read' }>,
  work: WorkLog,
  { redact }: Session,
): HostOutcome => {
  if (outcome.kind === 'unreadable') return { kind: 'unreadable host', cause: redact.text(outcome.cause) };
  return { ...outcome, ...work.done() };
};

/** Carries actions out until one ends the run. */
const perform = async (
  actions: readonly Action[],
  lockOwner: string,
  work: WorkLog,
  session: Session,
): Promise<HostOutcome | undefined> => {
  for (const action of actions) {
    const outcome = await performAction(action, lockOwner, session);
    const ended = work.record(action, outcome, session.redact);
    if (ended !== undefined) return ended;
  }
  return undefined;
};
