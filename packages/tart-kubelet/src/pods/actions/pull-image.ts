import type { PodWaitReason } from '@tartan/api';
import type { Live } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import { type EnsureGolden, type GoldenBase, type GoldenRequest, ImageError } from '../../images/golden-base.ts';
import { parseReference } from '../../images/image-reference.ts';
import { type ActionContext, type ActionResult, changed, failed, recordEvent } from '../context.ts';
import type { Pod, Snapshot } from '../snapshot.ts';

type PullRequest = Omit<GoldenRequest, 'signal' | 'onProgress' | 'credentials'> & {
  /** Read only when the image is requested. */
  readonly credentials: (signal: AbortSignal) => Promise<GoldenRequest['credentials']>;
};

type PullState =
  | Extract<Snapshot['image'], { kind: 'pulling' }>
  | { readonly kind: 'pulled'; readonly golden: GoldenBase }
  | { readonly kind: 'failed'; readonly error: unknown };

const progressState = (
  progress: Parameters<NonNullable<GoldenRequest['onProgress']>>[0],
  before: PullState,
): PullState => {
  if (progress.stage !== 'pulling') return { kind: 'pulling', stage: progress.stage };
  if (progress.progress.stage === 'disk') return { kind: 'pulling', percent: progress.progress.percent };
  return { kind: 'pulling', percent: before.kind === 'pulling' ? before.percent : undefined };
};

/** `changed` is called on progress and at the end. */
export const createImagePull = (ensureGolden: EnsureGolden, changed: () => void) => {
  let pull: { readonly abort: AbortController; readonly started: Promise<void>; state: PullState } | undefined;

  const begin = (request: PullRequest): void => {
    const abort = new AbortController();
    const { signal } = abort;
    const started = Promise.withResolvers<void>();
    const mine: NonNullable<typeof pull> = { abort, started: started.promise, state: { kind: 'pulling' } };
    const update = (state: PullState): void => {
      mine.state = state;
      started.resolve();
      if (!signal.aborted) changed();
    };
    const fetch = async (): Promise<PullState> => {
      try {
        const credentials = await request.credentials(signal);
        const onProgress: GoldenRequest['onProgress'] = (progress) => update(progressState(progress, mine.state));
        const golden = await ensureGolden({ ...request, credentials, signal, onProgress });
        if (signal.aborted) golden.release();
        return { kind: 'pulled', golden };
      } catch (error) {
        return { kind: 'failed', error };
      }
    };
    pull = mine;
    void fetch().then(update);
  };

  return {
    state: (): Snapshot['image'] => {
      if (pull === undefined || pull.state.kind === 'failed') return { kind: 'missing' };
      return pull.state.kind === 'pulled' ? { kind: 'here', digest: pull.state.golden.image.digest } : pull.state;
    },
    /** Only the first call has an effect. */
    start: (request: PullRequest) => {
      if (pull === undefined) begin(request);
    },
    /** Resolves when the image is local, the pull has failed, or a download begins. */
    started: () => pull?.started,
    /** The golden base to clone from, held until `cancel`. */
    golden: () => (pull?.state.kind === 'pulled' ? pull.state.golden : undefined),
    /** The error of a failed pull, returned once: after that the pull can start again. */
    takeFailure: () => {
      if (pull?.state.kind !== 'failed') return undefined;
      const { error } = pull.state;
      pull = undefined;
      return error;
    },
    /** Cancels the pull and releases the base. Idempotent. */
    cancel: () => {
      pull?.abort.abort();
      if (pull?.state.kind === 'pulled') pull.state.golden.release();
      pull = undefined;
    },
  };
};

/** The image pull of one Pod. However long it takes, it delays neither the Pod's deletion nor another Pod (INC-27). */
export type ImagePull = ReturnType<typeof createImagePull>;

/** The container's waiting reason; the kubelet uses `ErrImagePull` for any registry or disk error. */
export const imageWaitReason = (error: unknown): PodWaitReason =>
  error instanceof ImageError ? error.reason : 'ErrImagePull';

/** A local base is found within this time. */
const localImageWaitMs = 2_000;

const imageFailure = ({ worker }: ActionContext, error: unknown): ActionResult => {
  const reason = imageWaitReason(error);
  // As the kubelet: first the error, then ImagePullBackOff.
  const isRepeated = reason === 'ErrImagePull' && worker.lastFailure !== undefined;
  return failed(error, isRepeated ? 'ImagePullBackOff' : reason);
};

/** Requests the image, and waits only long enough to find a local one. */
export const pullImage = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { deps, signal, worker } = context;
  const { imagePull } = worker;
  const [container] = pod.spec?.containers ?? [];
  const image = container?.image ?? '';
  const reference = parseReference(image);
  imagePull.start({
    image,
    policy: container?.imagePullPolicy,
    credentials: async (stop) => {
      if (reference === undefined) return undefined;
      const { credentials, problems } = await deps.pullCredentials(pod, reference, stop);
      for (const problem of problems) recordEvent(deps.events, pod, 'FailedToRetrieveImagePullSecret', problem);
      return credentials;
    },
  });
  const waited = new AbortController();
  await Promise.race([
    imagePull.started(),
    sleep(deps.clock, localImageWaitMs, AbortSignal.any([signal, waited.signal])),
  ]);
  waited.abort();
  const error = imagePull.takeFailure();
  if (error !== undefined) return imageFailure(context, error);
  const state = imagePull.state();
  if (state.kind === 'pulling' && state.stage === undefined)
    recordEvent(deps.events, pod, 'Pulling', `Pulling image ${image}`);
  return changed({ image: state });
};
