import type { PodWaitReason } from '@tartan/api';
import type { Logger } from '@tartan/kube';
import type { EnsureGolden } from '../images/ensure-golden.ts';
import type { Golden, GoldenRequest } from '../images/golden.ts';
import { ImageError } from '../images/image-error.ts';
import type { Snapshot } from './snapshot.ts';

type Request = Omit<GoldenRequest, 'signal' | 'onProgress' | 'credentials'> & {
  /** Read when the image is asked for, and no sooner. */
  readonly credentials: (signal: AbortSignal) => Promise<GoldenRequest['credentials']>;
};

type ImageEnd =
  | { readonly kind: 'here'; readonly golden: Golden }
  | { readonly kind: 'failed'; readonly error: unknown };

interface Job {
  readonly abort: AbortController;
  readonly done: Promise<ImageEnd>;
  /** Resolves when the registry is asked, or at the end. */
  readonly moving: Promise<void>;
  sight: Extract<Snapshot['image'], { kind: 'pulling' }>;
  end: ImageEnd | undefined;
}

const sightOf = (
  progress: Parameters<NonNullable<GoldenRequest['onProgress']>>[0],
  before: number | undefined,
): Job['sight'] => {
  if (progress.stage !== 'pulling') return { kind: 'pulling', doing: progress.stage };
  const percent = progress.progress.stage === 'disk' ? progress.progress.percent : before;
  return { kind: 'pulling', percent };
};

/**
 * Images on their way to the Pods that wait for them. Each takes as long as it takes, and delays nobody: neither the Pod's own deletion
 * nor another Pod (G16, INC-27).
 */
export interface ImageJobs {
  sight(uid: string): Snapshot['image'];
  /** Begins, unless it is on its way. */
  start(uid: string, request: Request): void;
  /** Until it is here, has failed, or turns out to take long. */
  settle(uid: string, patience: Promise<void>): Promise<void>;
  /** The base to clone from, held until `drop`. */
  golden(uid: string): Golden | undefined;
  /** How it failed, once: the next start begins anew. */
  takeFailure(uid: string): unknown;
  /** Nobody waits for it any more. Safe to repeat. */
  drop(uid: string): void;
  /** The agent ends: no download outlives it unheard. The next one goes on where it was. */
  stop(): void;
}

export interface ImageJobsOptions {
  readonly ensureGolden: EnsureGolden;
  /** There is news for this Pod. */
  readonly changed: (uid: string) => void;
  readonly log: Logger;
}

export const createImageJobs = ({ ensureGolden, changed, log }: ImageJobsOptions): ImageJobs => {
  const jobs = new Map<string, Job>();

  const begin = (uid: string, request: Request): Job => {
    const abort = new AbortController();
    const { signal } = abort;
    const moving = Promise.withResolvers<void>();
    const fetch = async (): Promise<ImageEnd> => {
      try {
        const credentials = await request.credentials(signal);
        const golden = await ensureGolden({
          ...request,
          credentials,
          signal,
          onProgress: (progress) => {
            moving.resolve();
            job.sight = sightOf(progress, job.sight.percent);
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
      job.end = end;
      moving.resolve();
      if (!signal.aborted) changed(uid);
      return end;
    });
    const job: Job = { abort, done, moving: moving.promise, sight: { kind: 'pulling' }, end: undefined };
    return job;
  };

  const drop = (uid: string): void => {
    const job = jobs.get(uid);
    if (job === undefined) return;
    jobs.delete(uid);
    job.abort.abort();
    if (job.end?.kind === 'here') job.end.golden.release();
  };

  return {
    sight: (uid) => {
      const job = jobs.get(uid);
      if (job === undefined || job.end?.kind === 'failed') return { kind: 'missing' };
      if (job.end === undefined) return job.sight;
      return { kind: 'here', digest: job.end.golden.image.digest };
    },
    start: (uid, request) => {
      if (jobs.has(uid)) return;
      log.debug('An image is asked for', { uid, image: request.image });
      jobs.set(uid, begin(uid, request));
    },
    settle: async (uid, patience) => {
      const job = jobs.get(uid);
      if (job !== undefined) await Promise.race([job.done, job.moving, patience]);
    },
    golden: (uid) => {
      const end = jobs.get(uid)?.end;
      return end?.kind === 'here' ? end.golden : undefined;
    },
    takeFailure: (uid) => {
      const end = jobs.get(uid)?.end;
      if (end?.kind !== 'failed') return undefined;
      jobs.delete(uid);
      return end.error;
    },
    drop,
    stop: () => {
      for (const uid of jobs.keys()) drop(uid);
    },
  };
};

/** As the container's waiting reason has it; a kubelet says `ErrImagePull` of whatever a registry or a disk refuses. */
export const imageReason = (error: unknown): PodWaitReason =>
  error instanceof ImageError ? error.reason : 'ErrImagePull';
