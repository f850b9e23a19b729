import { type Live, pods } from '@tartan/kube';
import { collectExec } from '@tartan/tart';
import type { Pod } from '../../pods/snapshot.ts';
import type { Stage } from './stage.ts';

type Seen = Live<Pod> | undefined;

const container = (pod: Seen) => pod?.status?.containerStatuses?.[0];

/** The virtual machine that the status names. */
export const vmOf = (pod: Seen): string => container(pod)?.containerID?.replace('tart://', '') ?? '';
export const waitsFor = (pod: Seen): string | undefined => container(pod)?.state?.waiting?.reason;
export const endOf = (pod: Seen) => container(pod)?.state?.terminated;
export const restartsOf = (pod: Seen): number => container(pod)?.restartCount ?? 0;
export const isReady = (pod: Seen): boolean =>
  pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;

/** Reasons of the events of a Pod, in their order. */
export const toldOf = ({ events }: Stage, { metadata: { name } }: Live<Pod>): string[] =>
  events.filter(({ pod }) => pod === name).map(({ reason }) => reason);

/** The process of its virtual machine, as the journal has it. */
export const processOf = async ({ journal }: Stage, { metadata: { uid } }: Live<Pod>) => {
  const entry = await journal.read(uid);
  return entry?.kind === 'record' && entry.record.state.kind === 'running' ? entry.record.state.process : undefined;
};

/** Somebody labels the Pod: the agent looks at it once more. */
export const nudge = async ({ admin }: Stage, pod: Live<Pod>): Promise<void> => {
  const { name, namespace = '' } = pod.metadata;
  const labels = { nudge: String(performance.now()).replace('.', '-') };
  await admin.patch(pods, { name, namespace }, { type: 'merge', body: { metadata: { labels } } });
};

/** A shell in the guest of a Pod, in its root folder; shares are below `Volumes/My Shared Files`. */
export const inGuest = async ({ driver }: Stage, vm: string, script: string): Promise<string> => {
  const session = driver.exec(vm, ['/bin/sh', '-c', script]);
  const { end, stdout } = await collectExec(session, 64 * 1024);
  if (end.kind !== 'exited') throw new Error(`the guest did not answer: ${JSON.stringify(end)}`);
  return stdout;
};
