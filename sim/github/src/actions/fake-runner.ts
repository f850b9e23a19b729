import { type Clock, sleep, systemClock } from '@tartan/kube/clock';

const retryAfter = 5_000;
/** `actions/runner#3539`: a runner renews its job every minute. */
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
  /** Its credentials. */
  readonly as: { readonly jit_config: string } | { readonly credential: string };
  /** The version that it reports. */
  readonly version?: string;
  /** Whether it exits after one job, as those with a JIT configuration must. */
  readonly isEphemeral?: boolean;
  /** Runs the job and returns its conclusion: `success`, `failure`. */
  readonly work: (job: RunnerJob, signal: AbortSignal) => Promise<string>;
  /** Kills it without notice, as when its machine is destroyed. */
  readonly signal: AbortSignal;
}

/**
 * A runner as in a guest: it connects, asks for work, runs one job, and exits.
 *
 * Guarantees: never rejects. Retries requests without an answer; exits when its registration is gone.
 */
export const runFakeRunner = async (runner: FakeRunnerOptions): Promise<'job done' | 'not registered' | 'killed'> => {
  const { url, fetch: ask = fetch, clock = systemClock, work, signal, isEphemeral = true, version } = runner;

  /** Retries until there is a definite answer. */
  const call = async (path: string, body: unknown = {}): Promise<{ status: number; body: string } | undefined> => {
    while (!signal.aborted) {
      try {
        const response = await ask(`${url}/_actions${path}`, { method: 'POST', body: JSON.stringify(body), signal });
        const text = await response.text();
        // 409: GitHub still counts an earlier connection.
        if (response.status < 500 && response.status !== 409) return { status: response.status, body: text };
      } catch {
        // No connection, or no answer.
      }
      await sleep(clock, retryAfter, signal);
    }
    return undefined;
  };

  const runJob = async (session: string, job: RunnerJob): Promise<void> => {
    const path = `/sessions/${session}/jobs/${job.id}`;
    const started = await call(`${path}/started`);
    // GitHub has given the job to another runner meanwhile.
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
    const response = await call(`/sessions/${session}/poll`, version === undefined ? {} : { runner_version: version });
    if (response === undefined) break;
    if (response.status === 200) {
      await runJob(session, (JSON.parse(response.body) as { job: RunnerJob }).job);
      if (isEphemeral && !signal.aborted) return 'job done';
    } else if (response.status !== 204) return 'not registered';
  }
  return 'killed';
};
