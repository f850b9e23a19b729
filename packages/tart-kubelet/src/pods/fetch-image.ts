import type { PodWaitReason } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import { parseReference } from '../images/reference.ts';
import { type Acted, changed, type Scene } from './acted.ts';
import { imageReason } from './image-jobs.ts';
import type { Pod } from './snapshot.ts';
import { tell } from './tell.ts';

/** A base that is here already is found within this time. */
const patienceMs = 2_000;

const failedImage = (scene: Scene, error: unknown): Acted => {
  const message = error instanceof Error ? error.message : String(error);
  const reason = imageReason(error);
  // As the kubelet: the first time it says what happened, and then that it waits.
  return {
    kind: 'failed',
    reason: scene.memory.troubles.of(scene.uid) === undefined ? reason : backOffOf(reason),
    message,
  };
};

const backOffOf = (reason: PodWaitReason): PodWaitReason => (reason === 'ErrImagePull' ? 'ImagePullBackOff' : reason);

/** Asks for the image, and stays only as long as it takes to find one that is here: a download is waited for elsewhere. */
export const fetchImage = async (scene: Scene, pod: Live<Pod>): Promise<Acted> => {
  const { memory, signal, uid, world } = scene;
  const [container] = pod.spec?.containers ?? [];
  const image = container?.image ?? '';
  const reference = parseReference(image);
  memory.images.start(uid, {
    image,
    policy: container?.imagePullPolicy,
    credentials: async (stop) => {
      if (reference === undefined) return undefined;
      const { credentials, problems } = await world.pullCredentials(pod, reference, stop);
      for (const problem of problems) tell(world.events, pod, 'FailedToRetrieveImagePullSecret', problem);
      return credentials;
    },
  });
  const enough = new AbortController();
  await memory.images.settle(uid, sleep(world.clock, patienceMs, AbortSignal.any([signal, enough.signal])));
  enough.abort();
  const error = memory.images.takeFailure(uid);
  if (error !== undefined) return failedImage(scene, error);
  const sight = memory.images.sight(uid);
  if (sight.kind === 'pulling' && sight.doing === undefined)
    tell(world.events, pod, 'Pulling', `Pulling image ${image}`);
  return changed({ image: sight });
};
