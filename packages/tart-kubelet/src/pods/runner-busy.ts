import { isDeepStrictEqual } from 'node:util';
import { formatRunnerVersion, labels, runnerBusyCondition, type RunnerBusyReason } from '@tartan/api';
import { type Clock, sleep } from '@tartan/kube/clock';
import { noRunnerMarkers, type RunnerMarkers } from '../guest/guest-status.ts';
import type { Guests } from '../guest/guests.ts';
import { isPresent, type Pod, type Snapshot } from './snapshot.ts';
import type { DesiredCondition } from './status.ts';

/** A Pod whose guest is a CI runner, and reports when a job begins. */
const isRunnerPod = (pod: Pod): boolean => pod.metadata?.labels?.[labels.runner] === 'true';

interface RunnerBusy {
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: RunnerBusyReason;
}

const busy: RunnerBusy = { status: 'True', reason: 'JobStarted' };
const idle: RunnerBusy = { status: 'False', reason: 'WaitsForJob' };
const unknown: RunnerBusy = { status: 'Unknown', reason: 'NotReported' };

/**
 * Whether a runner has a job, from the previous condition and the current markers. Pure and total.
 *
 * `True` is final: a runner takes one job, and the guest or the job may delete the marker. When the VM is off, the last value stays, to
 * show whether it had a job. In doubt `Unknown`, which counts as busy.
 */
export const runnerBusyOf = (before: string | undefined, markers: RunnerMarkers, isRunning: boolean): RunnerBusy => {
  if (before === 'True' || markers.jobStarted === 'present') return busy;
  if (markers.jobStarted === 'unreadable' || markers.ready === 'unreadable') return unknown;
  if (markers.ready === 'present') return idle;
  // The share is removed with the VM, so missing markers mean nothing then.
  return before === 'False' && !isRunning ? idle : unknown;
};

const currentCondition = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === runnerBusyCondition);

/** The Pod condition. None for other Pods. */
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

/** Ignores markers in the share from before this run was started. */
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

/** Watches while the VM runs and no job has begun; after that nothing changes any more. No cost for other Pods. */
export const updateMarkerWatch = (
  watch: MarkerWatch,
  { vm, snapshot }: { readonly vm: string; readonly snapshot: Snapshot },
): void => {
  const { markers = noRunnerMarkers, pod } = snapshot;
  // Unknown whether it runs: keep the current state.
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

/** Opens two files, and needs no process. The controller learns of a job shortly after GitHub. */
const pollMs = 2_000;

/** Polls the markers of one runner: the Mac gets no event when a guest writes a file. */
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
    /** `seen`: the markers that the caller has read. `changed` is called when they differ. */
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
