import { isDeepStrictEqual } from 'node:util';
import { formatRunnerVersion, labels, runnerBusyCondition, type RunnerBusyReason } from '@tartan/api';
import { type Clock, sleep } from '@tartan/kube/clock';
import { noRunnerMarkers, type RunnerMarkers } from '../guest/guest-status.ts';
import type { Guests } from '../guest/guests.ts';
import { isPresent, type Pod, type Snapshot } from './snapshot.ts';
import type { DesiredCondition } from './status.ts';

/** A Pod whose guest runs jobs for somebody, and says when one begins. */
const isRunnerPod = (pod: Pod): boolean => pod.metadata?.labels?.[labels.runner] === 'true';

interface RunnerBusy {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: RunnerBusyReason;
}

const busy: RunnerBusy = { status: 'True', reason: 'JobStarted' };
const idle: RunnerBusy = { status: 'False', reason: 'WaitsForJob' };
const unknown: RunnerBusy = { status: 'Unknown', reason: 'NotReported' };

/**
 * Whether a runner has a job, by what was said before and by what its share shows now. Pure and total.
 *
 * A job never goes back: a runner has one, and its guest, or the job itself, may take the marker away. Of a virtual machine that is off
 * the last word stays, so that whoever counts knows whether it had a job. Unknown is taken for busy, so it is the answer to every doubt.
 */
export const runnerBusyOf = (before: string | undefined, markers: RunnerMarkers, isRunning: boolean): RunnerBusy => {
  if (before === 'True' || markers.jobStarted === 'present') return busy;
  if (markers.jobStarted === 'unreadable' || markers.ready === 'unreadable') return unknown;
  if (markers.ready === 'present') return idle;
  // Its share goes with it: that says nothing new.
  return before === 'False' && !isRunning ? idle : unknown;
};

const currentCondition = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === runnerBusyCondition);

/** As a condition of the Pod. None for Pods that run something else. */
export const runnerBusyConditions = (
  { markers = noRunnerMarkers, vm }: Snapshot,
  pod: Pod,
): readonly DesiredCondition[] => {
  if (!isRunnerPod(pod)) return [];
  const isRunning = vm.kind === 'running' || vm.kind === 'unknown';
  const { version } = markers;
  const before = currentCondition(pod);
  const message = version === undefined ? before?.message : formatRunnerVersion(version);
  return [
    { type: runnerBusyCondition, ...runnerBusyOf(before?.status, markers, isRunning), ...(message && { message }) },
  ];
};

const startedStates: ReadonlySet<string> = new Set(['starting', 'running', 'ended']);

/** What lies in its share from before this run was started says nothing of it. */
export const readMarkers = async (
  guests: Pick<Guests, 'runnerMarkers'>,
  { record, vm: { kind } }: Pick<Snapshot, 'record' | 'vm'>,
  pod: Pod | undefined,
  vm: string,
): Promise<Snapshot['markers']> => {
  if (pod === undefined || !isRunnerPod(pod)) return undefined;
  const isStarted = kind === 'running' || (typeof record === 'object' && startedStates.has(record.state.kind));
  return isStarted ? guests.runnerMarkers(vm) : undefined;
};

/** Watched while it is on and no job has begun: after that there is nothing more to hear. Costs nothing for other Pods. */
export const updateMarkerWatch = (
  watch: MarkerWatch,
  { vm, snapshot }: { readonly vm: string; readonly snapshot: Snapshot },
): void => {
  const { markers = noRunnerMarkers, pod } = snapshot;
  // Nobody could tell whether it is on: as before.
  if (snapshot.vm.kind === 'unknown') return;
  const awaitsJob =
    isPresent(pod) && isRunnerPod(pod) && currentCondition(pod)?.status !== 'True' && markers.jobStarted !== 'present';
  if (awaitsJob && snapshot.vm.kind === 'running') watch.watch(vm, markers);
  else watch.stop();
};

interface MarkerWatchOptions {
  readonly read: (vm: string) => Promise<RunnerMarkers>;
  readonly changed: () => void;
  readonly clock: Clock;
}

/** Two files that are opened, and no process. A job that begins is known to the controller a moment later than to GitHub. */
const pollMs = 2_000;

/** Polls the markers of one runner: nothing tells the Mac that a guest wrote a file. */
export const createMarkerWatch = ({ read, changed, clock }: MarkerWatchOptions) => {
  let known = noRunnerMarkers;
  let polling: AbortController | undefined;

  const poll = async (vm: string, signal: AbortSignal): Promise<void> => {
    for (;;) {
      await sleep(clock, pollMs, signal);
      if (signal.aborted) return;
      const markers = await read(vm);
      if (signal.aborted) return;
      if (isDeepStrictEqual(known, markers)) continue;
      known = markers;
      changed();
    }
  };

  return {
    /** `seen`: what the caller has read. `changed` is called once they differ from it. */
    watch: (vm: string, seen: RunnerMarkers) => {
      known = seen;
      if (polling !== undefined) return;
      polling = new AbortController();
      void poll(vm, polling.signal);
    },
    stop: () => {
      polling?.abort();
      polling = undefined;
    },
  };
};

export type MarkerWatch = ReturnType<typeof createMarkerWatch>;
