import { join } from 'node:path';
import { sleep } from '@tartan/kube/clock';
import { collectOutput, isSameProcess, isTartError, type ProcessIdentity, vmProcesses } from '@tartan/tart';
import { readOwnershipMarker } from '../../journal/vm-identity.ts';
import {
  type ActionContext,
  type ActionResult,
  changed,
  done,
  failed,
  observeAgain,
  recordEvent,
  recordOrNew,
  writeRecord,
} from '../context.ts';
import { isPresent } from '../snapshot.ts';

/** The guest's own shutdown, as root: Cirrus images allow that without a password. */
const shutdownCommand = ['/bin/sh', '-c', 'sudo -n /sbin/shutdown -h now || /sbin/shutdown -h now'];
const shutdownRequestMs = 15_000;
/** How long `tart stop` waits before it kills the process. */
const tartStopSeconds = 30;
const signalWaitMs = 2_000;

const recordKillingEvent = ({ snapshot: { pod }, vm, deps }: ActionContext, how: string): void => {
  if (isPresent(pod)) recordEvent(deps.events, pod, 'Killing', `${how} ${vm}`);
};

/** Journal first: after a crash the guest must not get its whole grace period again. */
export const stopGracefully = async (context: ActionContext, graceMs: number): Promise<ActionResult> => {
  const { worker, signal, vm, deps } = context;
  const { stopRequestedAt = deps.clock.now() } = recordOrNew(context);
  const record = await writeRecord(context, { stopRequestedAt });
  worker.shutdownRequested = true;
  recordKillingEvent(context, 'Shutting down');
  const session = deps.tart.exec(vm, shutdownCommand, { deadlineMs: Math.min(shutdownRequestMs, graceMs), signal });
  const { result } = await collectOutput(session, 4096);
  // The guest cannot receive the request, so waiting for the grace period would be pointless.
  if (result.kind === 'failed' && isTartError(result.error, 'guest agent unreachable'))
    return forceStop({ ...context, snapshot: { ...context.snapshot, record } });
  return changed({ record, shutdownMaybeUnsent: false });
};

const isAlive = async ({ deps }: ActionContext, process: ProcessIdentity): Promise<boolean> => {
  const found = await deps.processes.find(process.pid);
  return found !== undefined && isSameProcess(found, process);
};

const sendSignal = (pid: number, name: 'SIGINT' | 'SIGKILL'): void => {
  try {
    process.kill(pid, name);
  } catch {
    // It has exited, or is not ours: the next observation shows it.
  }
};

/** Powers the VM off. `tart stop` relies on a lock that may be stale, so a process that still runs is signalled. */
export const forceStop = async (context: ActionContext): Promise<ActionResult> => {
  const { signal, snapshot, vm, deps } = context;
  recordKillingEvent(context, 'Cutting the power of');
  try {
    await deps.tart.stop(vm, { timeoutSeconds: tartStopSeconds, signal });
  } catch (error) {
    if (signal.aborted || snapshot.vm.kind !== 'running') return failed(error);
    deps.log.warn('Failed to stop VM; killing its process', { vm, error });
  }
  if (snapshot.vm.kind === 'running')
    for (const name of ['SIGINT', 'SIGKILL'] as const) {
      if (!(await isAlive(context, snapshot.vm.process))) break;
      sendSignal(snapshot.vm.process.pid, name);
      await sleep(deps.clock, signalWaitMs, signal);
    }
  return observeAgain;
};

/** Deletes neither a running VM nor one that is not ours: both are checked immediately before (B5, INC-50). */
export const deleteVm = async (context: ActionContext): Promise<ActionResult> => {
  const { worker, signal, snapshot, uid, vm, deps } = context;
  const marked = await readOwnershipMarker(join(deps.vmsFolder, vm), vm);
  if (typeof snapshot.record !== 'object' && !(marked !== undefined && 'podUID' in marked && marked.podUID === uid))
    return failed(
      new Error(
        `${vm} has no ownership marker of this agent, so it is not deleted. Delete it by hand if it is not needed.`,
      ),
    );
  const live = vmProcesses(await deps.processes.list(), deps.tartPaths);
  if (live.some(({ name }) => name === vm)) return observeAgain;
  try {
    await deps.tart.delete(vm, { signal });
  } catch (error) {
    return isTartError(error, 'running') ? observeAgain : failed(error, 'TartDeleteFailed');
  }
  await deps.guests.remove(vm);
  worker.addressWatch.reset();
  worker.releaseVm?.();
  worker.releaseVm = undefined;
  return changed({ vm: { kind: 'missing' } });
};

/** Deletes logs and the guest's inputs; the record last. */
export const deleteRecord = async ({ uid, vm, deps }: ActionContext): Promise<ActionResult> => {
  await deps.runs.removeLogs(uid);
  await deps.guests.remove(vm);
  await deps.journal.remove(uid);
  return done;
};
