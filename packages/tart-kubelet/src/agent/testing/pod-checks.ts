import { randomUUID } from 'node:crypto';
import { type Live, pods } from '@tartan/kube';
import { collectOutput } from '@tartan/tart';
import type { Pod } from '../../pods/snapshot.ts';
import type { Harness } from './harness.ts';

type MaybePod = Live<Pod> | undefined;

const container = (pod: MaybePod) => pod?.status?.containerStatuses?.[0];

/** The VM name in the Pod's status. */
export const vmNameOf = (pod: MaybePod): string => container(pod)?.containerID?.replace('tart://', '') ?? '';
export const waitingReason = (pod: MaybePod): string | undefined => container(pod)?.state?.waiting?.reason;
export const terminatedState = (pod: MaybePod) => container(pod)?.state?.terminated;
export const restartsOf = (pod: MaybePod): number => container(pod)?.restartCount ?? 0;
export const isReady = (pod: MaybePod): boolean =>
  pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

/** Reasons of a Pod's events, in order. */
export const eventReasonsOf = ({ events }: Harness, { metadata: { name } }: Live<Pod>): string[] =>
  events.filter(({ podName }) => podName === name).map(({ reason }) => reason);

/** The process of its VM, from the journal. */
export const processOf = async ({ journal }: Harness, { metadata: { uid } }: Live<Pod>) => {
  const record = await journal.read(uid);
  return typeof record === 'object' && record.state.kind === 'running' ? record.state.process : undefined;
};

/** Changes a label of the Pod, to trigger a reconcile. */
export const touchPod = async ({ admin }: Harness, pod: Live<Pod>): Promise<void> => {
  const { name, namespace = '' } = pod.metadata;
  const labels = { nudge: randomUUID() };
  await admin.patch(pods, { name, namespace }, { type: 'merge', body: { metadata: { labels } } });
};

/** Runs a shell script in the guest's root folder; shares are below `Volumes/My Shared Files`. */
export const runInGuest = async ({ driver }: Harness, vm: string, script: string): Promise<string> => {
  const session = driver.exec(vm, ['/bin/sh', '-c', script]);
  const { result, stdout } = await collectOutput(session, 64 * 1024);
  if (result.kind !== 'exited') throw new Error(`the guest did not answer: ${JSON.stringify(result)}`);
  return stdout;
};
