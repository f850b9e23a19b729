import { join } from 'node:path';
import { sleep } from '@tartan/kube/clock';
import { collectExec, isSameProcess, isTartError, type ProcessIdentity, vmProcesses } from '@tartan/tart';
import { readMarker } from '../journal/marker.ts';
import { type Acted, changed, failed, lookAgain, recordOf, rest, type Scene, writeRecord } from './acted.ts';
import { isThere } from './snapshot.ts';
import { tell } from './tell.ts';

/** A guest's own shutdown. As root, which images of Cirrus allow without a password. */
const shutdown = ['/bin/sh', '-c', 'sudo -n /sbin/shutdown -h now || /sbin/shutdown -h now'];
const askMs = 15_000;
/** What `tart stop` gives the process before it kills it. */
const stopSeconds = 30;
const killMs = 2_000;

const tellOfKill = ({ snapshot: { pod }, vm, world }: Scene, how: string): void => {
  if (isThere(pod)) tell(world.events, pod, 'Killing', `${how} ${vm}`);
};

/** Journal first: whoever comes back after a crash must not give the guest its whole time again. */
export const stopGracefully = async (scene: Scene, graceMs: number): Promise<Acted> => {
  const { memory, signal, uid, vm, world } = scene;
  const { stopRequestedAt = world.clock.now() } = recordOf(scene);
  const record = await writeRecord(scene, { stopRequestedAt });
  memory.asked.add(uid);
  tellOfKill(scene, 'Shutting down');
  const session = world.tart.exec(vm, shutdown, { deadlineMs: Math.min(askMs, graceMs), signal });
  const { end } = await collectExec(session, 4096);
  // Nobody in there has heard of it, and nobody will: the time would be waited for in vain.
  if (end.kind === 'failed' && isTartError(end.error, 'guest agent unreachable'))
    return stopHard({ ...scene, snapshot: { ...scene.snapshot, record } });
  return changed({ record, askedEarlier: false });
};

const isAlive = async ({ world }: Scene, process: ProcessIdentity): Promise<boolean> => {
  const found = await world.processes.find(process.pid);
  return found !== undefined && isSameProcess(found, process);
};

const signalled = (pid: number, name: 'SIGINT' | 'SIGKILL'): void => {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, or not ours: the next look tells.
  }
};

/** Cuts the power. tart goes by a lock that may be stale (§7.2), so the process itself has the last word. */
export const stopHard = async (scene: Scene): Promise<Acted> => {
  const { signal, snapshot, vm, world } = scene;
  tellOfKill(scene, 'Cutting the power of');
  try {
    await world.tart.stop(vm, { timeoutSeconds: stopSeconds, signal });
  } catch (error) {
    if (signal.aborted || snapshot.vm.kind !== 'running') return failed(error);
    world.log.warn('tart could not stop a virtual machine; its process is ended', { vm, error });
  }
  if (snapshot.vm.kind === 'running')
    for (const name of ['SIGINT', 'SIGKILL'] as const) {
      if (!(await isAlive(scene, snapshot.vm.process))) break;
      signalled(snapshot.vm.process.pid, name);
      await sleep(world.clock, killMs, signal);
    }
  return lookAgain;
};

/** Not one that is on, and not one that is not ours: both are looked at right before (B5, INC-50). */
export const deleteVm = async (scene: Scene): Promise<Acted> => {
  const { memory, signal, snapshot, uid, vm, world } = scene;
  const marked = await readMarker(join(world.vmsFolder, vm), vm);
  if (typeof snapshot.record !== 'object' && !(marked !== undefined && 'podUID' in marked && marked.podUID === uid))
    return failed(
      new Error(`${vm} has no mark of this agent, so it is not deleted. Delete it by hand if nobody needs it.`),
    );
  const live = vmProcesses(await world.processes.list(), world.tartPaths);
  if (live.some(({ name }) => name === vm)) return lookAgain;
  try {
    await world.tart.delete(vm, { signal });
  } catch (error) {
    return isTartError(error, 'running') ? lookAgain : failed(error, 'TartDeleteFailed');
  }
  await world.guests.remove(vm);
  memory.addresses.forget(uid);
  memory.holds.get(uid)?.();
  memory.holds.delete(uid);
  return changed({ vm: { kind: 'missing' } });
};

/** Logs, and what the guest was given; the record goes last. */
export const forget = async ({ memory, uid, vm, world }: Scene): Promise<Acted> => {
  await world.runs.remove(uid);
  await world.guests.remove(vm);
  await world.journal.remove(uid);
  memory.forget(uid);
  return rest;
};
