import type { PodWaitReason } from '@tartan/api';
import type { Live, Logger } from '@tartan/kube';
import { sleep } from '@tartan/kube/clock';
import { type EnsureGolden, type GoldenBase, type GoldenRequest, ImageError } from '../../images/golden-base.ts';
import { parseReference } from '../../images/image-reference.ts';
import { type ActionContext, type ActionResult, changed, recordEvent } from '../context.ts';
import type { Pod, Snapshot } from '../snapshot.ts';

type PullRequest = Omit<GoldenRequest, 'signal' | 'onProgress' | 'credentials'> & {
  /** Read when the image is asked for, and no sooner. */
  readonly credentials: (signal: AbortSignal) => Promise<GoldenRequest['credentials']>;
};

type PullResult =
  | { readonly kind: 'here'; readonly golden: GoldenBase }
  | { readonly kind: 'failed'; readonly error: unknown };

interface ImagePull {
  readonly abort: AbortController;
  readonly done: Promise<PullResult>;
  /** Resolves when the registry is asked, or at the end. */
  readonly downloadStarted: Promise<void>;
  state: Extract<Snapshot['image'], { kind: 'pulling' }>;
  result: PullResult | undefined;
}

const pullStateOf = (
  progress: Parameters<NonNullable<GoldenRequest['onProgress']>>[0],
  before: number | undefined,
): ImagePull['state'] => {
  if (progress.stage !== 'pulling') return { kind: 'pulling', stage: progress.stage };
  const percent = progress.progress.stage === 'disk' ? progress.progress.percent : before;
  return { kind: 'pulling', percent };
};

/**
 * Images on their way to the Pods that wait for them. Each takes as long as it takes, and delays nobody: neither the Pod's own deletion
 * nor another Pod (INC-27).
 */
export interface ImagePulls {
  state(uid: string): Snapshot['image'];
  /** Begins, unless it is on its way. */
  start(uid: string, request: PullRequest): void;
  /** Until it is here, has failed, or turns out to take long. */
  waitBriefly(uid: string, timeout: Promise<void>): Promise<void>;
  /** The base to clone from, held until `drop`. */
  golden(uid: string): GoldenBase | undefined;
  /** How it failed, once: the next start begins anew. */
  takeFailure(uid: string): unknown;
  /** Nobody waits for it any more. Safe to repeat. */
  cancel(uid: string): void;
  /** The agent ends: no download outlives it unheard. The next one goes on where it was. */
  stop(): void;
}

interface ImagePullsOptions {
  readonly ensureGolden: EnsureGolden;
  /** There is news for this Pod. */
  readonly changed: (uid: string) => void;
  readonly log: Logger;
}

export const createImagePulls = ({ ensureGolden, changed, log }: ImagePullsOptions): ImagePulls => {
  const pulls = new Map<string, ImagePull>();

  const begin = (uid: string, request: PullRequest): ImagePull => {
    const abort = new AbortController();
    const { signal } = abort;
    const downloadStarted = Promise.withResolvers<void>();
    const fetch = async (): Promise<PullResult> => {
      try {
        const credentials = await request.credentials(signal);
        const golden = await ensureGolden({
          ...request,
          credentials,
          signal,
          onProgress: (progress) => {
            downloadStarted.resolve();
            pull.state = pullStateOf(progress, pull.state.percent);
            changed(uid);
          },
        });
        // Whoever asked for it has left meanwhile.
        if (signal.aborted) golden.release();
        return { kind: 'here', golden };
      } catch (error) {
        return { kind: 'failed', error };
      }
    };
    const done = fetch().then((end) => {
      pull.result = end;
      downloadStarted.resolve();
      if (!signal.aborted) changed(uid);
      return end;
    });
    const pull: ImagePull = {
      abort,
      done,
      downloadStarted: downloadStarted.promise,
      state: { kind: 'pulling' },
      result: undefined,
    };
    return pull;
  };

  const cancel = (uid: string): void => {
    const job = pulls.get(uid);
    if (job === undefined) return;
    pulls.delete(uid);
    job.abort.abort();
    if (job.result?.kind === 'here') job.result.golden.release();
  };

  return {
    state: (uid) => {
      const job = pulls.get(uid);
      if (job === undefined || job.result?.kind === 'failed') return { kind: 'missing' };
      if (job.result === undefined) return job.state;
      return { kind: 'here', digest: job.result.golden.image.digest };
    },
    start: (uid, request) => {
      if (pulls.has(uid)) return;
      log.debug('Pulling image', { uid, image: request.image });
      pulls.set(uid, begin(uid, request));
    },
    waitBriefly: async (uid, timeout) => {
      const job = pulls.get(uid);
      if (job !== undefined) await Promise.race([job.done, job.downloadStarted, timeout]);
    },
    golden: (uid) => {
      const end = pulls.get(uid)?.result;
      return end?.kind === 'here' ? end.golden : undefined;
    },
    takeFailure: (uid) => {
      const end = pulls.get(uid)?.result;
      if (end?.kind !== 'failed') return undefined;
      pulls.delete(uid);
      return end.error;
    },
    cancel,
    stop: () => {
      for (const uid of pulls.keys()) cancel(uid);
    },
  };
};

/** As the container's waiting reason has it; a kubelet says `ErrImagePull` of whatever a registry or a disk refuses. */
export const imageWaitReason = (error: unknown): PodWaitReason =>
  error instanceof ImageError ? error.reason : 'ErrImagePull';

/** A base that is here already is found within this time. */
const localImageWaitMs = 2_000;

const imageFailure = (context: ActionContext, error: unknown): ActionResult => {
  const message = error instanceof Error ? error.message : String(error);
  const reason = imageWaitReason(error);
  // As the kubelet: the first time it says what happened, and then that it waits.
  return {
    kind: 'failed',
    reason: context.memory.backoff.get(context.uid) === undefined ? reason : backOffReason(reason),
    message,
  };
};

const backOffReason = (reason: PodWaitReason): PodWaitReason =>
  reason === 'ErrImagePull' ? 'ImagePullBackOff' : reason;

/** Asks for the image, and stays only as long as it takes to find one that is here: a download is waited for elsewhere. */
export const pullImage = async (context: ActionContext, pod: Live<Pod>): Promise<ActionResult> => {
  const { memory, signal, uid, deps } = context;
  const [container] = pod.spec?.containers ?? [];
  const image = container?.image ?? '';
  const reference = parseReference(image);
  memory.imagePulls.start(uid, {
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
  await memory.imagePulls.waitBriefly(
    uid,
    sleep(deps.clock, localImageWaitMs, AbortSignal.any([signal, waited.signal])),
  );
  waited.abort();
  const error = memory.imagePulls.takeFailure(uid);
  if (error !== undefined) return imageFailure(context, error);
  const state = memory.imagePulls.state(uid);
  if (state.kind === 'pulling' && state.stage === undefined)
    recordEvent(deps.events, pod, 'Pulling', `Pulling image ${image}`);
  return changed({ image: state });
};
