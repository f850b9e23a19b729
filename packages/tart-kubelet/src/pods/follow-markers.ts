import type { Guests } from '../guest/guests.ts';
import { noMarkers } from '../guest/markers.ts';
import type { MarkerWatch } from './marker-watch.ts';
import { isRunnerPod, wasBusy } from './runner-busy.ts';
import { isThere, type Pod, type Snapshot } from './snapshot.ts';

const started: ReadonlySet<string> = new Set(['starting', 'running', 'ended']);

/** What lies in its share from before this run was started says nothing of it. */
export const markersOf = async (
  guests: Pick<Guests, 'markers'>,
  { record, vm: { kind } }: Pick<Snapshot, 'record' | 'vm'>,
  pod: Pod | undefined,
  vm: string,
): Promise<Snapshot['markers']> => {
  if (pod === undefined || !isRunnerPod(pod)) return undefined;
  const isStarted = kind === 'running' || (typeof record === 'object' && started.has(record.state.kind));
  return isStarted ? guests.markers(vm) : undefined;
};

/** Watched while it is on and no job has begun: after that there is nothing more to hear. Costs nothing for other Pods. */
export const followMarkers = (
  watch: MarkerWatch,
  { uid, vm, snapshot }: { readonly uid: string; readonly vm: string; readonly snapshot: Snapshot },
): void => {
  const { markers = noMarkers, pod } = snapshot;
  // Nobody could tell whether it is on: as before.
  if (snapshot.vm.kind === 'unknown') return;
  const waits = isThere(pod) && isRunnerPod(pod) && !wasBusy(pod) && markers.jobStarted !== 'there';
  if (waits && snapshot.vm.kind === 'running') watch.watch(uid, vm, markers);
  else watch.forget(uid);
};
