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

/** The collector leaves it alone from before it exists. */
const holdVm = async ({ worker, vm, deps }: ActionContext): Promise<void> => {
  worker.releaseVm ??= await deps.holds.hold(vm);
};

/** tart, or the console, did not let it start: it is counted, and the Node says so when that goes on. */
const recordRefusedStart = async (context: ActionContext, reason: TartReason, message: string): Promise<void> => {
  const { image } = recordOrNew(context);
  const running = await countRunningVms(context.deps);
  await context.deps.startRecorder.recordRefusal({ reason, message, image: image.digest ?? image.reference, running });
};

/** The console session, what the guest is given, and a slot; or why one of these is not there. */
const prepareStart = async (context: ActionContext, pod: Live<Pod>) => {
  const { signal, vm, deps } = context;
  try {
    await deps.session.ensure(signal);
  } catch (error) {
    if (!signal.aborted) await recordRefusedStart(context, 'no GUI session', errorMessage(error));
    return failed(error);
  }
  try {
    const guest = await deps.guests.prepare(pod, vm, { hostIP: deps.hostIP() }, signal);
    return { kind: 'ready' as const, ...guest, slots: await readSlots(context) };
  } catch (error) {
    if (error instanceof GuestConfigError) return failed(error, error.reason);
    throw error;
  }
};

/** A fresh clone under a name that is free: the driver refuses any other (INC-429). A failed clone deletes nothing (INC-47). */
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
    // An earlier life of the agent made it: what is there is looked at before anything else.
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

/** The mark, an identity of its own and its size. Done again after a crash: it was never on. */
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

/** What the guest is given first, as that can wait; then the journal, and then the process. */
export const boot = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { worker, vm, deps } = context;
  const { clock, runs } = deps;
  await holdVm(context);
  const handover = await prepareStart(context, pod);
  if (handover.kind === 'failed' || handover.slots.usedByOthers >= handover.slots.total) {
    // A record that says `starting` would keep its slot.
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
  worker.addressWatch.reset();
  const at = clock.now();
  const starting = await writeRecord(context, { state: { kind: 'starting', at } });
  const next: ActionContext = { ...context, snapshot: { ...context.snapshot, record: starting } };
  try {
    const process = await runs.start(run, handover.shares);
    recordEvent(deps.events, pod, 'Started', `Started ${vm}`);
    return await recordRunning(next, { kind: 'running', process, since: at });
  } catch (error) {
    if (!isTartError(error)) throw error;
    return undoStart(next, pod, error);
  }
};

/** tart refused to start it, and the guest was never on: the start is taken back. */
export const undoStart = async (
  context: ActionContext,
  pod: Live<Pod>,
  { reason, message }: { readonly reason: TartReason; readonly message: string },
): Promise<ActionResult> => {
  const { state } = recordOrNew(context);
  await recordRefusedStart(context, reason, message);
  // Before the log is deleted: a record that says running, without a log, would have ended and could never start.
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

/** It survived an agent, or came from the end of one: it is watched from now on, and never started a second time (INC-30). */
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
