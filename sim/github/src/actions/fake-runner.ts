import { type Clock, sleep, systemClock } from '@tartan/kube/clock';

const retryAfter = 5_000;
/** `actions/runner#3539`: a job is renewed every minute. */
const renewEvery = 60_000;

interface RunnerJob {
  readonly id: number;
  readonly name: string;
  readonly repository: string;
  readonly labels: readonly string[];
}

export interface FakeRunnerOptions {
  /** Of the simulated GitHub. */
  readonly url: string;
  readonly fetch?: typeof fetch;
  readonly clock?: Clock;
  /** What it connects with. */
  readonly as: { readonly jit_config: string } | { readonly credential: string };
  /** What it says that it is. */
  readonly version?: string;
  /** Whether it leaves after one job, as those with a JIT configuration must. */
  readonly isEphemeral?: boolean;
  /** Does the job, and says how it went: `success`, `failure`. */
  readonly work: (job: RunnerJob, signal: AbortSignal) => Promise<string>;
  /** Ends it without a word, as when its machine is destroyed. */
  readonly signal: AbortSignal;
}

/**
 * A runner as it behaves in a guest: it connects, asks for work, does one job, and ends.
 *
 * Guarantees: never rejects. What GitHub does not answer is tried again; a registration that is gone ends it.
 */
export const runFakeRunner = async (runner: FakeRunnerOptions): Promise<'job done' | 'not registered' | 'killed'> => {
  const { url, fetch: ask = fetch, clock = systemClock, work, signal, isEphemeral = true, version } = runner;

  /** Until there is an answer that is one. */
  const call = async (path: string, body: unknown = {}): Promise<{ status: number; body: string } | undefined> => {
    while (!signal.aborted) {
      try {
        const response = await ask(`${url}/_actions${path}`, { method: 'POST', body: JSON.stringify(body), signal });
        const text = await response.text();
        // 409: a connection that GitHub has not given up yet.
        if (response.status < 500 && response.status !== 409) return { status: response.status, body: text };
      } catch {
        // Nobody there, or nobody who answers.
      }
      await sleep(clock, retryAfter, signal);
    }
    return undefined;
  };

  const runJob = async (session: string, job: RunnerJob): Promise<void> => {
    const path = `/sessions/${session}/jobs/${job.id}`;
    const started = await call(`${path}/started`);
    // Somebody else was given it meanwhile.
    if (started?.status !== 204) return;
    const over = new AbortController();
    const either = AbortSignal.any([over.signal, signal]);
    const renewing = (async () => {
      await sleep(clock, renewEvery, either);
      while (!either.aborted) {
        await call(`${path}/renew`);
        await sleep(clock, renewEvery, either);
      }
    })();
    const conclusion = await work(job, signal).catch(() => 'failure');
    over.abort();
    await renewing;
    await call(`${path}/finished`, { conclusion });
  };

  const connected = await call('/sessions', runner.as);
  if (connected === undefined) return 'killed';
  if (connected.status !== 201) return 'not registered';
  const { session } = JSON.parse(connected.body) as { session: string };
  while (!signal.aborted) {
    const told = await call(`/sessions/${session}/poll`, version === undefined ? {} : { runner_version: version });
    if (told === undefined) break;
    if (told.status === 200) {
      await runJob(session, (JSON.parse(told.body) as { job: RunnerJob }).job);
      if (isEphemeral && !signal.aborted) return 'job done';
    } else if (told.status !== 204) return 'not registered';
  }
  return 'killed';
};
