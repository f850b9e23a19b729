import type { VmRecord } from '../journal/journal.ts';
import { pullImage } from './actions/pull-image.ts';
import { adopt, boot, clone, configure, undoStart } from './actions/start.ts';
import { deleteRecord, deleteVm, forceStop, stopGracefully } from './actions/stop.ts';
import { addFinalizer, deletePod, removeFinalizer, writeStatusNow } from './apiserver/pod-writes.ts';
import {
  type ActionContext,
  type ActionResult,
  changed,
  done,
  observeAgain,
  recordEvent,
  recordOrNew,
  writeRecord,
} from './context.ts';
import type { Decision } from './decide.ts';
import { countRunningVms, runOf } from './observe.ts';
import { isPresent, type Pod, type Snapshot } from './snapshot.ts';
import { ignoredFields } from './spec/admission.ts';
import { terminationReasons } from './termination.ts';

/** The end of a VM that this agent does not own triggers no event. */
const slotPollMs = 10_000;
const unknownVmPollMs = 5_000;

const wait = (
  { snapshot: { now } }: ActionContext,
  { for: { reason }, until }: Extract<Decision, { kind: 'wait' }>,
): ActionResult => {
  if (until !== undefined) return { kind: 'done', until };
  if (reason === 'WaitingForSlot') return { kind: 'done', until: now + slotPollMs };
  return reason === 'TartUnreachable' ? { kind: 'done', until: now + unknownVmPollMs } : done;
};

/** Also watches a VM that a previous agent process started: otherwise its end would not be noticed. */
const watchProcess = (context: ActionContext, pod: Pod): void => {
  const { record, vm } = context.snapshot;
  if (vm.kind === 'running') context.deps.runs.watch(runOf(context, record, pod), vm.process);
};

/** Once per Pod: reported together with the finalizer, which the next agent finds. */
const reportIgnoredFields = ({ deps }: ActionContext, pod: Pod): void => {
  const fields = ignoredFields(pod);
  if (fields.length === 0) return;
  const message = `These fields mean nothing to a virtual machine and are ignored: ${fields.join(', ')}. Take them out, and let the guest do what they are for.`;
  recordEvent(deps.events, pod, 'FieldsIgnored', message);
};

const imageOf = ({ image }: VmRecord): string => image.digest ?? image.reference;

/** According to the guest's report, or to tart. */
const hasBooted = ({ ending, report }: Snapshot['lastRun']): boolean =>
  report !== undefined || ending.kind === 'halted' || ending.kind === 'crashed';

/** Keeps the address in the journal, and renews the tokens. */
const maintainRunningPod = async (context: ActionContext, address: string): Promise<ActionResult> => {
  const { signal, snapshot, vm, deps } = context;
  const { pod } = snapshot;
  const { state } = recordOrNew(context);
  if (!isPresent(pod) || state.kind !== 'running') return observeAgain;
  watchProcess(context, pod);
  context.worker.lastFailure = undefined;
  if (state.address !== address) {
    deps.metrics?.booted(pod, deps.clock.now() - state.since);
    const record = await writeRecord(context, { state: { ...state, address } });
    await deps.startRecorder.recordSuccess({ image: imageOf(record), running: (await countRunningVms(deps)) ?? 1 });
    return changed({ record });
  }
  try {
    return { kind: 'done', until: await deps.guests.renewTokens(pod, vm, signal) };
  } catch (error) {
    deps.log.warn('Failed to renew a guest token', { vm, error });
    return { kind: 'done', until: snapshot.now + 60_000 };
  }
};

/** All decisions that are possible for a missing Pod. */
const actOnMissingPod = async (context: ActionContext, decision: Decision): Promise<ActionResult> => {
  if (decision.kind === 'force stop') return forceStop(context);
  if (decision.kind === 'delete VM') return deleteVm(context);
  if (decision.kind === 'delete record') return deleteRecord(context);
  return decision.kind === 'wait' ? wait(context, decision) : done;
};

const notStarted: Snapshot['lastRun'] = { started: false, ending: { kind: 'unknown' } };

/** Executes one decision. Crash-safe after any side effect: the next reconcile observes the state and continues. */
export const act = async (context: ActionContext, decision: Decision): Promise<ActionResult> => {
  const { snapshot, vm, deps, worker } = context;
  const { pod } = snapshot;
  if (!isPresent(pod)) return actOnMissingPod(context, decision);
  switch (decision.kind) {
    case 'none':
      return done;
    case 'wait':
      return wait(context, decision);
    case 'ignore':
      recordEvent(deps.events, pod, 'NotForMacs', decision.message);
      return done;
    case 'reject':
      recordEvent(deps.events, pod, decision.reason, decision.message);
      return writeStatusNow(context, decision);
    case 'add finalizer':
      reportIgnoredFields(context, pod);
      return addFinalizer(context, pod);
    case 'pull':
      return pullImage(context, pod);
    case 'clone':
      return clone(context, pod);
    case 'configure':
      return configure(context, pod);
    case 'boot':
      return boot(context, pod);
    case 'adopt':
      return adopt(context, pod, decision);
    case 'wait for address':
      watchProcess(context, pod);
      worker.addressWatch.watch(vm);
      return done;
    case 'running':
      return maintainRunningPod(context, decision.address);
    case 'stop gracefully':
      return stopGracefully(context, decision.graceMs);
    case 'wait for shutdown':
      watchProcess(context, pod);
      return { kind: 'done', until: decision.until };
    case 'force stop':
      return forceStop(context);
    case 'undo start':
      return undoStart(context, pod, decision);
    case 'end': {
      await deps.runs.finishLog(runOf(context, snapshot.record, pod));
      const { ending, image } = decision;
      const before = recordOrNew(context);
      const record = await writeRecord(context, {
        image: { ...before.image, reference: before.image.reference || image },
        state: { kind: 'ended', ending },
      });
      if (hasBooted(snapshot.lastRun)) await deps.startRecorder.recordSuccess({ image: imageOf(record), running: 1 });
      deps.log.info('VM ended', { vm, reason: ending.reason, exitCode: ending.exitCode });
      return changed({ record });
    }
    case 'restart': {
      const { stopRequestedAt: _stopRequestedAt, ...before } = recordOrNew(context);
      const record = { ...before, run: decision.run, previous: decision.previous, state: { kind: 'cloning' as const } };
      await deps.journal.write(record);
      worker.imagePull.cancel();
      worker.addressWatch.reset();
      return changed({ record, lastRun: notStarted, image: { kind: 'missing' } });
    }
    case 'delete VM':
      return deleteVm(context);
    case 'write final status':
      if (decision.ending.reason === terminationReasons.deadline)
        recordEvent(deps.events, pod, 'DeadlineExceeded', decision.ending.message ?? '');
      return writeStatusNow(context, decision);
    case 'remove finalizer':
      return removeFinalizer(context, pod);
    case 'delete Pod':
      return deletePod(context, pod);
    case 'delete record':
      return deleteRecord(context);
  }
};
