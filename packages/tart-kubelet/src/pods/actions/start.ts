import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Live } from '@tartan/kube';
import type { Clock } from '@tartan/kube/clock';
import { isTartError, type TartReason } from '@tartan/tart';
import type { PreparedGuest } from '../../guest/guests.ts';
import type { Draft, RunState, VmRecord } from '../../journal/journal.ts';
import { writeOwnershipMarker } from '../../journal/vm-identity.ts';
import {
  type ActionContext,
  type ActionResult,
  changed,
  failed,
  observeAgain,
  recordEvent,
  recordOrNew,
  writeRecord,
} from '../context.ts';
import type { Decision } from '../decide.ts';
import { countRunningVms, readSlots, runOf } from '../observe.ts';
import type { Pod, Snapshot } from '../snapshot.ts';
import { vmSizeOf } from '../spec/vm-size.ts';

/** What a start needs besides its disk, or why it cannot be had. */
export type PreparedStart =
  | (Extract<PreparedGuest, { kind: 'ready' }> & {
      readonly slots: Snapshot['slots'];
      /** What the journal will say of it. Not without a slot. */
      readonly starting?: Draft | undefined;
    })
  | Extract<ActionResult, { kind: 'failed' }>;

/** Starts that are made ready while their disks are cloned: neither needs the other. Memory only, and good for a moment. */
export interface StartPreparations {
  /** Begins, once nothing of an earlier one is under way. */
  begin(uid: string, work: () => Promise<PreparedStart>): void;
  /** What was begun a moment ago; else `work` does it now. Rejects as that does. */
  take(uid: string, work: () => Promise<PreparedStart>): Promise<PreparedStart>;
  /** Nobody starts it now. Resolves when nothing of it is under way: the guest's folder is nobody's then. Never rejects. */
  cancel(uid: string): Promise<void>;
}

/** A clone takes a second. What is older says too little of the console session, and of what Secrets hold. */
const maxAgeMs = 15_000;

export const createStartPreparations = (clock: Pick<Clock, 'monotonic'>): StartPreparations => {
  const begun = new Map<string, { readonly at: number; readonly done: Promise<PreparedStart> }>();
  const cancel = async (uid: string): Promise<void> => {
    const before = begun.get(uid);
    begun.delete(uid);
    const prepared = await before?.done.catch(() => undefined);
    if (prepared?.kind === 'ready') await prepared.starting?.discard().catch(() => {});
  };
  return {
    cancel,
    begin: (uid, work) => {
      const done = cancel(uid).then(work);
      // Whoever takes it hears of it.
      done.catch(() => {});
      begun.set(uid, { at: clock.monotonic(), done });
    },
    take: async (uid, work) => {
      const found = begun.get(uid);
      if (found !== undefined && clock.monotonic() - found.at <= maxAgeMs) {
        begun.delete(uid);
        return found.done;
      }
      await cancel(uid);
      return work();
    },
  };
};

type DecisionOf<K extends Decision['kind']> = Extract<Decision, { kind: K }>;

/** Whatever fails for lack of space is tried once more after a collection. */
const retryAfterFreeingSpace = async ({ deps }: ActionContext, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    if (!isTartError(error, 'no space') || deps.freeSpace === undefined) throw error;
    await deps.freeSpace();
    await work();
  }
};

/** The collector leaves it alone from before it exists. */
const holdVm = async ({ memory, uid, vm, deps }: ActionContext): Promise<void> => {
  if (!memory.holds.has(uid)) memory.holds.set(uid, await deps.holds.hold(vm));
};

/** tart, or the console, did not let it start: it is counted, and the Node says so when that goes on. */
export const recordRefusedStart = async (
  context: ActionContext,
  reason: TartReason,
  message: string,
): Promise<void> => {
  const { image } = recordOrNew(context);
  const running = await countRunningVms(context.deps);
  await context.deps.startRecorder.recordRefusal({ reason, message, image: image.digest ?? image.reference, running });
};

const ensureSession = async (context: ActionContext): Promise<void> => {
  const { signal, deps } = context;
  try {
    await deps.session.ensure(signal);
  } catch (error) {
    if (!signal.aborted) await recordRefusedStart(context, 'no GUI session', failed(error).message);
    throw error;
  }
};

/** The console session, what the guest is given, room for its log, and a slot; with one also what the journal will say of the start. */
const prepareStart = async (
  context: ActionContext,
  pod: Live<Pod>,
  record: Snapshot['record'],
): Promise<PreparedStart> => {
  const { memory, signal, uid, vm, deps } = context;
  const [problem, handover, slots] = await Promise.all([
    Promise.all([ensureSession(context), deps.runs.prepareLog(runOf(context, record, pod))]).then(
      () => undefined,
      (error: unknown) => failed(error),
    ),
    deps.guests.prepare(pod, vm, { hostIP: deps.hostIP() }, signal),
    readSlots(deps, memory, { uid, vm, record }),
  ]);
  if (problem !== undefined) return problem;
  if (handover.kind === 'problem') return { ...handover, kind: 'failed' };
  if (slots.usedByOthers >= slots.total) return { ...handover, slots };
  const state = { kind: 'starting', at: deps.clock.now() } as const;
  const before = recordOrNew({ ...context, snapshot: { ...context.snapshot, record } });
  return { ...handover, slots, starting: await deps.journal.draft({ ...before, state }) };
};

/** The draft, if it is the record as it is now in all but its state: then most of the write is done. */
const writeStartingRecord = async (context: ActionContext, at: number, draft: Draft | undefined): Promise<VmRecord> => {
  const before = recordOrNew(context);
  if (draft !== undefined && isDeepStrictEqual({ ...draft.record, state: before.state }, before)) {
    await draft.commit();
    return draft.record;
  }
  await draft?.discard();
  return writeRecord(context, { state: { kind: 'starting', at } });
};

/** A fresh clone under a name that is free: the driver refuses any other (INC-429). A failed clone deletes nothing (INC-47). */
export const clone = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { memory, uid, vm, deps } = context;
  const golden = memory.imagePulls.golden(uid);
  if (golden === undefined) return observeAgain;
  const started = deps.clock.monotonic();
  const image = { reference: pod.spec?.containers[0]?.image ?? '', digest: golden.image.digest };
  await holdVm(context);
  const record = await writeRecord(context, { image, state: { kind: 'cloning' } });
  // The clone is what takes long: its process comes first, before those by which the Mac is looked at.
  const cloneStarted = Promise.withResolvers<void>();
  memory.preparations.begin(uid, () => cloneStarted.promise.then(() => prepareStart(context, pod, record)));
  try {
    await retryAfterFreeingSpace(context, () => deps.tart.clone(golden.name, vm, { onStart: cloneStarted.resolve }));
  } catch (error) {
    cloneStarted.reject(error);
    await memory.preparations.cancel(uid);
    // An earlier life of the agent made it: what is there is looked at before anything else.
    return isTartError(error, 'already exists') ? observeAgain : failed(error);
  }
  deps.markGoldenUsed(golden.name);
  memory.imagePulls.cancel(uid);
  deps.metrics?.provisioned(pod, golden.from, deps.clock.monotonic() - started);
  if (golden.from === 'pulled')
    recordEvent(deps.events, pod, 'Pulled', `Image ${image.reference} is here (${image.digest})`);
  recordEvent(deps.events, pod, 'CreatingVM', `Cloned ${vm} from ${golden.name} (${golden.from})`);
  return changed({ record, vm: { kind: 'stopped' }, image: memory.imagePulls.state(uid) });
};

/** The mark, an identity of its own and its size. Done again after a crash: it was never on. */
export const configure = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { memory, snapshot, uid, vm, deps } = context;
  const [container] = pod.spec?.containers ?? [];
  await holdVm(context);
  const [marked, set] = await Promise.allSettled([
    writeOwnershipMarker(join(deps.vmsFolder, vm), { version: 1, agent: deps.agentVersion, podUID: uid, vm }),
    deps.tart.set(vm, { randomSerial: true, randomMac: true, ...(container && vmSizeOf(container)) }),
  ]);
  const problem = [marked, set].find((one) => one.status === 'rejected');
  if (problem !== undefined) {
    await memory.preparations.cancel(uid);
    return failed(problem.reason);
  }
  const state = { kind: 'configured' } as const;
  // With a slot it is started at once, and the journal says that: a crash before it configures once more. Each write costs two flushes.
  if (snapshot.slots.usedByOthers < snapshot.slots.total)
    return changed({ record: { ...recordOrNew(context), state } });
  return changed({ record: await writeRecord(context, { state }) });
};

/** What the guest is given first, as that can wait; then the journal, and then the process. */
export const boot = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { memory, uid, vm, deps } = context;
  const { clock, runs } = deps;
  await holdVm(context);
  const handover = await memory.preparations.take(uid, () => prepareStart(context, pod, context.snapshot.record));
  if (handover.kind === 'failed' || handover.slots.usedByOthers >= handover.slots.total) {
    // The next try need not configure it again.
    const record = await writeRecord(context, { state: { kind: 'configured' } });
    return handover.kind === 'failed' ? handover : changed({ record, slots: handover.slots });
  }
  if (handover.skipped.length > 0)
    recordEvent(
      deps.events,
      pod,
      'InvalidEnvironmentVariableNames',
      `Left out of the environment: ${handover.skipped.join(', ')}`,
    );
  const run = runOf(context, context.snapshot.record, pod);
  const created = Date.parse(pod.metadata.creationTimestamp);
  if (!Number.isNaN(created)) deps.metrics?.starting(pod, clock.now() - created);
  memory.addresses.forget(uid);
  const at = clock.now();
  const starting = await writeStartingRecord(context, at, handover.starting);
  const next: ActionContext = { ...context, snapshot: { ...context.snapshot, record: starting } };
  try {
    const process = await runs.start(run, handover.shares);
    recordEvent(deps.events, pod, 'Started', `Started ${vm}`);
    return await recordRunning(next, { kind: 'running', process, since: at });
  } catch (error) {
    if (!isTartError(error)) throw error;
    await recordRefusedStart(next, error.reason, error.message);
    await runs.undoStart(run);
    await writeRecord(next, { state: { kind: 'configured' } });
    return failed(error);
  }
};

const recordRunning = async (
  context: ActionContext,
  state: Extract<RunState, { kind: 'running' }>,
): Promise<ActionResult> => {
  const { memory, uid, vm } = context;
  const record = await writeRecord(context, { state });
  memory.addresses.watch(uid, vm);
  return changed({
    record,
    vm: { kind: 'running', process: state.process },
    lastRun: { started: true, ending: { kind: 'unknown' } },
  });
};

/** It survived an agent, or came from the end of one: it is watched from now on, and never started a second time (INC-30). */
export const adopt = async (
  context: ActionContext,
  pod: Live<Pod>,
  { process }: DecisionOf<'adopt'>,
): Promise<ActionResult> => {
  const { state } = recordOrNew(context);
  await holdVm(context);
  context.deps.runs.watch(runOf(context, context.snapshot.record, pod), process);
  const since = state.kind === 'starting' ? state.at : process.startedAt;
  return recordRunning(context, { kind: 'running', process, since });
};
