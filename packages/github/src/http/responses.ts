import { createSecret } from '@tartan/kube';
import { z } from 'zod';

/**
 * GitHub's responses, as far as we use them. Unknown fields are dropped; a field that we use is required. The parsed form parses again to
 * the same value, so that a cached body can replace a response.
 */

const id = z.int().positive();
/** Wrapped at once, so that it is never logged. */
const secret = z.string().min(1).transform(createSecret);
const time = z.string().refine((text) => !Number.isNaN(Date.parse(text)));

export const tokenResponse = z.object({ token: secret, expires_at: time });
export const jitConfigResponse = z.object({ runner: z.object({ id }), encoded_jit_config: secret });

export const runnerResponse = z.object({
  id,
  name: z.string(),
  status: z.string(),
  busy: z.boolean(),
});

export const downloadsResponse = z.array(z.object({ os: z.string(), architecture: z.string(), filename: z.string() }));

/** On all pages. */
const total = { total_count: z.int().nonnegative() };

export const runnersResponse = z.object({ ...total, runners: z.array(runnerResponse) });
export const groupsResponse = z.object({ ...total, runner_groups: z.array(z.object({ id, name: z.string() })) });

const repository = z.object({
  id,
  full_name: z.string().regex(/^[^/]+\/[^/]+$/),
  archived: z.boolean().optional(),
  disabled: z.boolean().optional(),
  /** Null: it is empty. */
  pushed_at: time.nullish(),
});
export type Repository = z.output<typeof repository>;
export const repositoriesResponse = z.object({ ...total, repositories: z.array(repository) });

const run = z.object({ id, created_at: time });
export type Run = z.output<typeof run>;
export const runsResponse = z.object({ ...total, workflow_runs: z.array(run) });

const job = z.object({ id, status: z.string(), created_at: time, labels: z.array(z.string()) });
export type Job = z.output<typeof job>;
export const jobsResponse = z.object({ ...total, jobs: z.array(job) });

/** Of a deletion. */
export const emptyResponse = z.unknown().transform(() => undefined);
