import { join } from 'node:path';
import { errorMessage, type Live } from '@tartan/kube';
import { isTartError, type TartReason } from '@tartan/tart';
import { GuestConfigError } from '../../guest/guests.ts';
import { retryAfterFreeingSpace } from '../../images/golden-base.ts';
import type { RunState } from '../../journal/journal.ts';
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
import type { Pod } from '../snapshot.ts';
import { vmSizeOf } from '../spec/vm-size.ts';

/** Protects the VM from the collector before it exists. */
const holdVm = async ({ worker, vm, deps }: ActionContext): Promise<void> => {
  worker.releaseVm ??= await deps.holds.hold(vm);
};

/** Counts a start that tart or the missing console session prevented; repeated ones become a Node condition. */
const recordRefusedStart = async (context: ActionContext, reason: TartReason, message: string): Promise<void> => {
  const { image } = recordOrNew(context);
  const running = await countRunningVms(context.deps);
  await context.deps.startRecorder.recordRefusal({ reason, message, image: image.digest ?? image.reference, running });
};

/**
 * Ensures the console session and reads the slots, while the guest's inputs are prepared; or returns the failure. When the inputs take
 * long, another VM may have taken the slot since: then tart refuses the start, and it is retried.
 */
const prepareStart = async (context: ActionContext, pod: Live<Pod>) => {
  const { signal, vm, deps } = context;
  const [slots, guest] = await Promise.allSettled([
    deps.session.ensure(signal).then(() => readSlots(context)),
    deps.guests.prepare(pod, vm, { hostIP: deps.hostIP() }, signal),
  ]);
  if (slots.status === 'rejected') {
    if (!signal.aborted) await recordRefusedStart(context, 'no GUI session', errorMessage(slots.reason));
    return failed(slots.reason);
  }
  if (guest.status === 'rejected') {
    if (guest.reason instanceof GuestConfigError) return failed(guest.reason, guest.reason.reason);
    throw guest.reason;
  }
  return { kind: 'ready' as const, ...guest.value, slots: slots.value };
};

/** Clones to a free name: the driver refuses a name that is taken (INC-429). A failed clone deletes nothing (INC-47). */
export const clone = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { worker, vm, deps } = context;
  const golden = worker.imagePull.golden();
  if (golden === undefined) return observeAgain;
  const started = deps.clock.monotonic();
  const image = { reference: pod.spec?.containers[0]?.image ?? '', digest: golden.image.digest };
  await holdVm(context);
  const record = await writeRecord(context, { image, state: { kind: 'cloning' } });
  try {
    await retryAfterFreeingSpace(deps.freeSpace, () => deps.tart.clone(golden.name, vm));
  } catch (error) {
    // A previous agent process created it: observe it first.
    return isTartError(error, 'already exists') ? observeAgain : failed(error);
  }
  deps.markGoldenUsed(golden.name);
  worker.imagePull.cancel();
  deps.metrics?.provisioned(pod, golden.from, deps.clock.monotonic() - started);
  if (golden.from === 'pulled')
    recordEvent(deps.events, pod, 'Pulled', `Image ${image.reference} is here (${image.digest})`);
  recordEvent(deps.events, pod, 'CreatingVM', `Cloned ${vm} from ${golden.name} (${golden.from})`);
  return changed({ record, vm: { kind: 'stopped' }, image: { kind: 'missing' } });
};

/** Writes the marker, and sets a new identity and the size. Repeatable after a crash, as the VM has never run. */
export const configure = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { uid, vm, deps } = context;
  const [container] = pod.spec?.containers ?? [];
  await holdVm(context);
  try {
    await writeOwnershipMarker(join(deps.vmsFolder, vm), { version: 1, agent: deps.agentVersion, podUID: uid, vm });
    await deps.tart.set(vm, { randomSerial: true, randomMac: true, ...(container && vmSizeOf(container)) });
  } catch (error) {
    return failed(error);
  }
  return changed({ record: await writeRecord(context, { state: { kind: 'configured' } }) });
};

/** Prepares the guest's inputs first, as that can wait; then writes the journal, then starts the process. */
export const boot = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { worker, vm, deps } = context;
  const { clock, runs } = deps;
  await holdVm(context);
  const prepared = await prepareStart(context, pod);
  if (prepared.kind === 'failed' || prepared.slots.usedByOthers >= prepared.slots.total) {
    // A record with `starting` would keep its slot.
    const record = await writeRecord(context, { state: { kind: 'configured' } });
    return prepared.kind === 'failed' ? prepared : changed({ record, slots: prepared.slots });
  }
  if (prepared.skipped.length > 0)
    recordEvent(
      deps.events,
      pod,
      'InvalidEnvironmentVariableNames',
      `Left out of the environment: ${prepared.skipped.join(', ')}`,
    );
  const run = runOf(context, context.snapshot.record, pod);
  const created = Date.parse(pod.metadata.creationTimestamp);
  if (!Number.isNaN(created)) deps.metrics?.starting(pod, clock.now() - created);
  worker.addressWatch.reset();
  const at = clock.now();
  const starting = await writeRecord(context, { state: { kind: 'starting', at } });
  const next: ActionContext = { ...context, snapshot: { ...context.snapshot, record: starting } };
  try {
    const process = await runs.start(run, prepared.shares);
    recordEvent(deps.events, pod, 'Started', `Started ${vm}`);
    return await recordRunning(next, { kind: 'running', process, since: at });
  } catch (error) {
    if (!isTartError(error)) throw error;
    return undoStart(next, pod, error);
  }
};

/** Undoes a start that tart refused before the guest ran. */
export const undoStart = async (
  context: ActionContext,
  pod: Live<Pod>,
  { reason, message }: { readonly reason: TartReason; readonly message: string },
): Promise<ActionResult> => {
  const { state } = recordOrNew(context);
  await recordRefusedStart(context, reason, message);
  // Before the log is deleted: a record with `running` but without a log would count as ended, and the Pod could never
  // start.
  if (state.kind === 'running') await writeRecord(context, { state: { kind: 'starting', at: state.since } });
  await context.deps.runs.undoStart(runOf(context, context.snapshot.record, pod));
  await writeRecord(context, { state: { kind: 'configured' } });
  return { kind: 'failed', reason: 'TartCreateFailed', message };
};

const recordRunning = async (
  context: ActionContext,
  state: Extract<RunState, { kind: 'running' }>,
): Promise<ActionResult> => {
  const record = await writeRecord(context, { state });
  context.worker.addressWatch.watch(context.vm);
  return changed({
    record,
    vm: { kind: 'running', process: state.process },
    lastRun: { started: true, ending: { kind: 'unknown' } },
  });
};

/** Adopts a VM that survived the previous agent process: watches it from now on, and never starts it again (INC-30). */
export const adopt = async (
  context: ActionContext,
  pod: Live<Pod>,
  { process }: Extract<Decision, { kind: 'adopt' }>,
): Promise<ActionResult> => {
  const { state } = recordOrNew(context);
  await holdVm(context);
  context.deps.runs.watch(runOf(context, context.snapshot.record, pod), process);
  const since = state.kind === 'starting' ? state.at : process.startedAt;
  return recordRunning(context, { kind: 'running', process, since });
};
