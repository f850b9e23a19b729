import { badRequest, HttpError } from '../api/http-response.ts';
import type { ContainerName, PodName } from '../api/pod-runtime.ts';
import type { PodLister, PodView } from '../pods/pod-lister.ts';

/** Texts as a kubelet has them: people and tools look for these. */
export const findPod = (lister: PodLister, name: PodName): PodView => {
  const view = lister.get(name);
  if (view === undefined) throw new HttpError(404, `pod "${name.pod}" does not exist`);
  return view;
};

export const findContainer = (lister: PodLister, { container, ...name }: ContainerName): PodView => {
  const view = findPod(lister, name);
  const { containers = [] } = view.pod.spec ?? {};
  if (containers.some((one) => one.name === container)) return view;
  throw new HttpError(404, `container "${container}" not found in pod "${name.pod}"`);
};

/** What its container waits for, in one word, as the status says it. */
export const waitingReason = ({ pod }: PodView, container: string): string | undefined =>
  pod.status?.containerStatuses?.find(({ name }) => name === container)?.state?.waiting?.reason;

/** Of a Pod whose virtual machine is on; whoever wants to reach into another one reads why not. */
export const requireRunning = (view: PodView): NonNullable<PodView['running']> => {
  if (view.running !== undefined) return view.running;
  const { name } = view.pod.metadata;
  throw badRequest(`the virtual machine of pod "${name}" is not running: kubectl describe pod ${name} shows why`);
};
