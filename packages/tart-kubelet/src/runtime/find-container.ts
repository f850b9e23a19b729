import { badRequest, HttpError } from '../api/http-response.ts';
import type { ContainerName, PodName } from '../api/pod-runtime.ts';
import type { PodLister, PodView } from '../pods/pod-lister.ts';

/** The kubelet's messages: users and tools search for them. */
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

/** The waiting reason of its container. */
export const waitingReason = ({ pod }: PodView, container: string): string | undefined =>
  pod.status?.containerStatuses?.find(({ name }) => name === container)?.state?.waiting?.reason;

/** For a Pod with a running VM; otherwise throws with the reason. */
export const requireRunning = (view: PodView): NonNullable<PodView['running']> => {
  if (view.running !== undefined) return view.running;
  const { name } = view.pod.metadata;
  throw badRequest(`the virtual machine of pod "${name}" is not running: kubectl describe pod ${name} shows why`);
};
