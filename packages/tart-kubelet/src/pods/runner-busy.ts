import { labels, runnerBusyCondition, type RunnerBusyReason, sayRunnerVersion } from '@tartan/api';
import { type Markers, noMarkers } from '../guest/markers.ts';
import type { Claim } from './pod-conditions.ts';
import type { Pod, Snapshot } from './snapshot.ts';

/** A Pod whose guest runs jobs for somebody, and says when one begins. */
export const isRunnerPod = (pod: Pod): boolean => pod.metadata?.labels?.[labels.runner] === 'true';

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
export const runnerBusyOf = (before: string | undefined, markers: Markers, isOn: boolean): RunnerBusy => {
  if (before === 'True' || markers.jobStarted === 'there') return busy;
  if (markers.jobStarted === 'unreadable' || markers.ready === 'unreadable') return unknown;
  if (markers.ready === 'there') return idle;
  // Its share goes with it: that says nothing new.
  return before === 'False' && !isOn ? idle : unknown;
};

const said = (pod: Pod) => pod.status?.conditions?.find(({ type }) => type === runnerBusyCondition);
const conditionOf = (pod: Pod): string | undefined => said(pod)?.status;
const messageOf = (pod: Pod): string | undefined => said(pod)?.message ?? undefined;

export const wasBusy = (pod: Pod): boolean => conditionOf(pod) === 'True';

/** As a condition of the Pod. None for Pods that run something else. */
export const runnerBusyClaims = ({ markers = noMarkers, vm }: Snapshot, pod: Pod): readonly Claim[] => {
  if (!isRunnerPod(pod)) return [];
  const isOn = vm.kind === 'running' || vm.kind === 'unknown';
  const { version } = markers;
  const busyness = runnerBusyOf(conditionOf(pod), markers, isOn);
  const message = version === undefined ? messageOf(pod) : sayRunnerVersion(version);
  return [{ type: runnerBusyCondition, ...busyness, ...(message !== undefined && { message }) }];
};
