import type { VmRecord } from '../journal/record.ts';
import { adopt, boot, clone, configure, countRefusal } from './act-start.ts';
import { askForFinalizer, awaitFinalizer, deletePod, publishNow, removeFinalizer } from './act-on-server.ts';
import { deleteVm, forget, stopGracefully, stopHard } from './act-stop.ts';
import { type Acted, changed, lookAgain, recordOf, rest, type Scene, writeRecord } from './acted.ts';
import type { Decision } from './decision.ts';
import { endReasons } from './ending.ts';
import { fetchImage } from './fetch-image.ts';
import { ignoredFields } from './ignored-fields.ts';
import { runningNow, runOf } from './observe.ts';
import { isThere, type Pod, type Snapshot } from './snapshot.ts';
import { tell } from './tell.ts';

/** Somebody else's virtual machine ends without a word to us. */
const slotMs = 10_000;
const unknownMs = 5_000;

const wait = ({ snapshot: { now } }: Scene, { for: { reason }, until }: Extract<Decision, { kind: 'wait' }>): Acted => {
  if (until !== undefined) return { kind: 'rest', until };
  if (reason === 'WaitingForSlot') return { kind: 'rest', until: now + slotMs };
  return reason === 'TartUnreachable' ? { kind: 'rest', until: now + unknownMs } : rest;
};

/** Also one that an earlier life of the agent started: nobody else would tell when it ends. */
const follow = (scene: Scene, pod: Pod): void => {
  const { record, vm } = scene.snapshot;
  if (vm.kind === 'running') scene.world.runs.follow(runOf(scene, record, pod), vm.process);
};

/** Once for each Pod: with the finalizer, which is there when the next agent looks. */
const tellIgnored = ({ world }: Scene, pod: Pod): void => {
  const fields = ignoredFields(pod);
  if (fields.length === 0) return;
  const message = `These fields mean nothing to a virtual machine and are ignored: ${fields.join(', ')}. Take them out, and let the guest do what they are for.`;
  tell(world.events, pod, 'FieldsIgnored', message);
};

const imageIn = ({ image }: VmRecord): string => image.digest ?? image.reference;

/** The guest has said so, or tart has. */
const wasOn = ({ ending, report }: Snapshot['remains']): boolean =>
  report !== undefined || ending.kind === 'halted' || ending.kind === 'crashed';

/** It runs: its address is kept, and its tokens stay fresh. */
const keepRunning = async (scene: Scene, address: string): Promise<Acted> => {
  const { memory, signal, snapshot, uid, vm, world } = scene;
  const { pod } = snapshot;
  const { state } = recordOf(scene);
  if (!isThere(pod) || state.kind !== 'running') return lookAgain;
  follow(scene, pod);
  memory.troubles.forget(uid);
  if (state.address !== address) {
    world.observer?.booted(pod, world.clock.now() - state.since);
    const record = await writeRecord(scene, { state: { ...state, address } });
    await world.starts.worked({ image: imageIn(record), running: (await runningNow(world)) ?? 1 });
    return changed({ record });
  }
  try {
    return { kind: 'rest', until: await world.guests.renewTokens(pod, vm, signal) };
  } catch (error) {
    world.log.warn('A token of a guest could not be renewed; it is tried again', { vm, error });
    return { kind: 'rest', until: snapshot.now + 60_000 };
  }
};

/** All that is ever decided for a Pod that is gone. */
const actOnGone = async (scene: Scene, decision: Decision): Promise<Acted> => {
  if (decision.kind === 'stop hard') return stopHard(scene);
  if (decision.kind === 'delete VM') return deleteVm(scene);
  if (decision.kind === 'forget') return forget(scene);
  return decision.kind === 'wait' ? wait(scene, decision) : rest;
};

const notStarted: Snapshot['remains'] = { started: false, ending: { kind: 'unknown' } };

/** Does the one thing that was decided. Cut after any side effect, the next pass sees what there is and goes on. */
export const act = async (scene: Scene, decision: Decision): Promise<Acted> => {
  const { memory, snapshot, uid, vm, world } = scene;
  const { pod } = snapshot;
  if (!isThere(pod)) return actOnGone(scene, decision);
  switch (decision.kind) {
    case 'rest':
      return rest;
    case 'wait':
      return wait(scene, decision);
    case 'leave':
      tell(world.events, pod, 'NotForMacs', decision.message);
      return rest;
    case 'reject':
      tell(world.events, pod, decision.reason, decision.message);
      return publishNow(scene, decision);
    case 'add finalizer':
      tellIgnored(scene, pod);
      return askForFinalizer(scene, pod);
    case 'await finalizer':
      return awaitFinalizer(scene);
    case 'pull':
      return fetchImage(scene, pod);
    case 'clone':
      return clone(scene, pod);
    case 'configure':
      return configure(scene, pod);
    case 'boot':
      return boot(scene, pod);
    case 'adopt':
      return adopt(scene, pod, decision);
    case 'wait for address':
      follow(scene, pod);
      memory.addresses.watch(uid, vm);
      return rest;
    case 'running':
      return keepRunning(scene, decision.address);
    case 'stop gracefully':
      return stopGracefully(scene, decision.graceMs);
    case 'wait for shutdown':
      follow(scene, pod);
      return { kind: 'rest', until: decision.until };
    case 'stop hard':
      return stopHard(scene);
    case 'take back start': {
      const { state } = recordOf(scene);
      await countRefusal(scene, decision.reason, decision.message);
      // Before the log goes: what is said to run and has no log would have ended, and could never start.
      if (state.kind === 'running') await writeRecord(scene, { state: { kind: 'starting', at: state.since } });
      await world.runs.takeBack(runOf(scene, snapshot.record, pod));
      await writeRecord(scene, { state: { kind: 'configured' } });
      return { kind: 'failed', reason: 'TartCreateFailed', message: decision.message };
    }
    case 'end': {
      await world.runs.finish(runOf(scene, snapshot.record, pod));
      const { ending, image } = decision;
      const before = recordOf(scene);
      const record = await writeRecord(scene, {
        image: { ...before.image, reference: before.image.reference || image },
        state: { kind: 'ended', ending },
      });
      if (wasOn(snapshot.remains)) await world.starts.worked({ image: imageIn(record), running: 1 });
      world.log.info('A virtual machine has ended', { vm, reason: ending.reason, exitCode: ending.exitCode });
      return changed({ record });
    }
    case 'restart': {
      const { stopRequestedAt: _asked, ...before } = recordOf(scene);
      const record = { ...before, run: decision.run, previous: decision.previous, state: { kind: 'cloning' as const } };
      await world.journal.write(record);
      memory.images.drop(uid);
      memory.addresses.forget(uid);
      return changed({ record, remains: notStarted, image: memory.images.sight(uid) });
    }
    case 'delete VM':
      return deleteVm(scene);
    case 'finish status':
      if (decision.ending.reason === endReasons.deadline)
        tell(world.events, pod, 'DeadlineExceeded', decision.ending.message ?? '');
      return publishNow(scene, decision);
    case 'remove finalizer':
      return removeFinalizer(scene, pod);
    case 'delete Pod':
      return deletePod(scene, pod);
    case 'forget':
      return forget(scene);
  }
};
