import type { Live } from '@tartan/kube';
import { isTartError, type TartReason } from '@tartan/tart';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Draft } from '../journal/journal.ts';
import { writeMarker } from '../journal/marker.ts';
import type { RunState, VmRecord } from '../journal/record.ts';
import { type Acted, changed, failed, lookAgain, recordOf, type Scene, writeRecord } from './acted.ts';
import type { Decision } from './decision.ts';
import { runningNow, runOf, slotsNow } from './observe.ts';
import type { Prepared } from './preparations.ts';
import type { Pod, Snapshot } from './snapshot.ts';
import { tell } from './tell.ts';
import { vmSizeOf } from './vm-size.ts';

type Of<K extends Decision['kind']> = Extract<Decision, { kind: K }>;

/** Whatever fails for lack of space is tried once more after a collection. */
const freeingSpace = async ({ world }: Scene, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    if (!isTartError(error, 'no space') || world.freeSpace === undefined) throw error;
    await world.freeSpace();
    await work();
  }
};

/** The collector leaves it alone from before it exists. */
const hold = async ({ memory, uid, vm, world }: Scene): Promise<void> => {
  if (!memory.holds.has(uid)) memory.holds.set(uid, await world.holds.hold(vm));
};

/** tart, or the console, did not let it start: it is counted, and the Node says so when that goes on. */
export const countRefusal = async (scene: Scene, reason: TartReason, message: string): Promise<void> => {
  const { image } = recordOf(scene);
  const running = await runningNow(scene.world);
  await scene.world.starts.refused({ reason, message, image: image.digest ?? image.reference, running });
};

const ensureSession = async (scene: Scene): Promise<void> => {
  const { signal, world } = scene;
  try {
    await world.session.ensure(signal);
  } catch (error) {
    if (!signal.aborted) await countRefusal(scene, 'no GUI session', failed(error).message);
    throw error;
  }
};

/** The console session, what the guest is given, room for its log, and a slot; with one also what the journal will say of the start. */
const prepare = async (scene: Scene, pod: Live<Pod>, record: Snapshot['record']): Promise<Prepared> => {
  const { memory, signal, uid, vm, world } = scene;
  const [problem, handover, slots] = await Promise.all([
    Promise.all([ensureSession(scene), world.runs.prepare(runOf(scene, record, pod))]).then(
      () => undefined,
      (error: unknown) => failed(error),
    ),
    world.guests.prepare(pod, vm, { hostIP: world.hostIP() }, signal),
    slotsNow(world, memory, { uid, vm, record }),
  ]);
  if (problem !== undefined) return problem;
  if (handover.kind === 'problem') return { ...handover, kind: 'failed' };
  if (slots.ofOthers >= slots.total) return { ...handover, slots };
  const state = { kind: 'starting', at: world.clock.now() } as const;
  const before = recordOf({ ...scene, snapshot: { ...scene.snapshot, record } });
  return { ...handover, slots, starting: await world.journal.draft({ ...before, state }) };
};

/** The draft, if it is the record as it is now in all but its state: then most of the write is done. */
const writeStarting = async (scene: Scene, at: number, draft: Draft | undefined): Promise<VmRecord> => {
  const before = recordOf(scene);
  if (draft !== undefined && isDeepStrictEqual({ ...draft.record, state: before.state }, before)) {
    await draft.commit();
    return draft.record;
  }
  await draft?.discard();
  return writeRecord(scene, { state: { kind: 'starting', at } });
};

/** A fresh clone under a name that is free: the driver refuses any other (G29). A failed clone deletes nothing (G12). */
export const clone = async (scene: Scene, pod: Live<Pod>): Promise<Acted> => {
  const { memory, uid, vm, world } = scene;
  const golden = memory.images.golden(uid);
  if (golden === undefined) return lookAgain;
  const started = world.clock.monotonic();
  const image = { reference: pod.spec?.containers[0]?.image ?? '', digest: golden.image.digest };
  await hold(scene);
  const record = await writeRecord(scene, { image, state: { kind: 'cloning' } });
  // The clone is what takes long: its process comes first, before those by which the Mac is looked at.
  const begun = Promise.withResolvers<void>();
  memory.preparations.begin(uid, () => begun.promise.then(() => prepare(scene, pod, record)));
  try {
    await freeingSpace(scene, () => world.tart.clone(golden.name, vm, { onStart: begun.resolve }));
  } catch (error) {
    begun.reject(error);
    await memory.preparations.drop(uid);
    // An earlier life of the agent made it: what is there is looked at before anything else.
    return isTartError(error, 'already exists') ? lookAgain : failed(error);
  }
  world.usedGolden(golden.name);
  memory.images.drop(uid);
  world.observer?.provisioned(pod, golden.from, world.clock.monotonic() - started);
  if (golden.from === 'pulled') tell(world.events, pod, 'Pulled', `Image ${image.reference} is here (${image.digest})`);
  tell(world.events, pod, 'CreatingVM', `Cloned ${vm} from ${golden.name} (${golden.from})`);
  return changed({ record, vm: { kind: 'stopped' }, image: memory.images.sight(uid) });
};

/** The mark, an identity of its own and its size. Done again after a crash: it was never on. */
export const configure = async (scene: Scene, pod: Live<Pod>): Promise<Acted> => {
  const { memory, snapshot, uid, vm, world } = scene;
  const [container] = pod.spec?.containers ?? [];
  await hold(scene);
  const [marked, set] = await Promise.allSettled([
    writeMarker(join(world.vmsFolder, vm), { version: 1, agent: world.agentVersion, podUID: uid, vm }),
    world.tart.set(vm, { randomSerial: true, randomMac: true, ...(container && vmSizeOf(container)) }),
  ]);
  const problem = [marked, set].find((one) => one.status === 'rejected');
  if (problem !== undefined) {
    await memory.preparations.drop(uid);
    return failed(problem.reason);
  }
  const state = { kind: 'configured' } as const;
  // With a slot it is started at once, and the journal says that: a crash before it configures once more. Each write costs two flushes.
  if (snapshot.slots.ofOthers < snapshot.slots.total) return changed({ record: { ...recordOf(scene), state } });
  return changed({ record: await writeRecord(scene, { state }) });
};

/** What the guest is given first, as that can wait; then the journal, and then the process. */
export const boot = async (scene: Scene, pod: Live<Pod>): Promise<Acted> => {
  const { memory, uid, vm, world } = scene;
  const { clock, runs } = world;
  await hold(scene);
  const handover = await memory.preparations.take(uid, () => prepare(scene, pod, scene.snapshot.record));
  if (handover.kind === 'failed' || handover.slots.ofOthers >= handover.slots.total) {
    // The next try need not configure it again.
    const record = await writeRecord(scene, { state: { kind: 'configured' } });
    return handover.kind === 'failed' ? handover : changed({ record, slots: handover.slots });
  }
  if (handover.skipped.length > 0)
    tell(
      world.events,
      pod,
      'InvalidEnvironmentVariableNames',
      `Left out of the environment: ${handover.skipped.join(', ')}`,
    );
  const run = runOf(scene, scene.snapshot.record, pod);
  const created = Date.parse(pod.metadata.creationTimestamp);
  if (!Number.isNaN(created)) world.observer?.starting(pod, clock.now() - created);
  memory.addresses.forget(uid);
  const at = clock.now();
  const starting = await writeStarting(scene, at, handover.starting);
  const next: Scene = { ...scene, snapshot: { ...scene.snapshot, record: starting } };
  try {
    const process = await runs.start(run, handover.shares);
    tell(world.events, pod, 'Started', `Started ${vm}`);
    return await running(next, { kind: 'running', process, since: at });
  } catch (error) {
    if (!isTartError(error)) throw error;
    await countRefusal(next, error.reason, error.message);
    await runs.takeBack(run);
    await writeRecord(next, { state: { kind: 'configured' } });
    return failed(error);
  }
};

const running = async (scene: Scene, state: Extract<RunState, { kind: 'running' }>): Promise<Acted> => {
  const { memory, uid, vm } = scene;
  const record = await writeRecord(scene, { state });
  memory.addresses.watch(uid, vm);
  return changed({
    record,
    vm: { kind: 'running', process: state.process },
    remains: { started: true, ending: { kind: 'unknown' } },
  });
};

/** It survived an agent, or came from the end of one: it is watched from now on, and never started a second time (INC-30). */
export const adopt = async (scene: Scene, pod: Live<Pod>, { process }: Of<'adopt'>): Promise<Acted> => {
  const { state } = recordOf(scene);
  await hold(scene);
  scene.world.runs.follow(runOf(scene, scene.snapshot.record, pod), process);
  const since = state.kind === 'starting' ? state.at : process.startedAt;
  return running(scene, { kind: 'running', process, since });
};
