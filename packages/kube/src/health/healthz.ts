import { type Clock, sleep } from '../clock/clock.ts';
import { errorMessage } from '../errors/kube-error.ts';

/** Returns the problem, or undefined. A check that throws fails too. */
export type HealthCheck = () => string | undefined | Promise<string | undefined>;

/** By name. Checks may be added and removed while the server runs. */
export type HealthChecks = Map<string, HealthCheck>;

/** Probes time out after one second or more by default. */
const checkDeadlineMs = 800;

/** The problem, on one line. */
const runCheck = async (check: HealthCheck, clock: Clock): Promise<string | undefined> => {
  const finished = new AbortController();
  const tooLate = sleep(clock, checkDeadlineMs, finished.signal).then(() => `no answer within ${checkDeadlineMs} ms`);
  try {
    const problem = await Promise.race([check(), tooLate]);
    return problem?.replaceAll(/\s+/g, ' ').trim();
  } catch (error) {
    return errorMessage(error).replaceAll(/\s+/g, ' ').trim();
  } finally {
    finished.abort();
  }
};

export interface ProbeResponse {
  code: number;
  contentType: string;
  body: string;
}

interface ProbeOptions {
  readyz: HealthChecks;
  /** The text of `/metrics`; not served if absent. */
  metrics?: (() => Promise<{ contentType: string; body: string }>) | undefined;
  clock: Clock;
}

const plain = (code: number, body: string): ProbeResponse => ({ code, contentType: 'text/plain; charset=utf-8', body });

/** Kubernetes' probe format, but with the reason of a failure: its readers can read the logs too. */
const probeReadiness = async (checks: HealthChecks, clock: Clock, query: URLSearchParams): Promise<ProbeResponse> => {
  const excluded = query.getAll('exclude');
  const results = await Promise.all(
    [...checks].map(async ([name, check]) => {
      if (excluded.includes(name)) return { name, line: `[+]${name} excluded: ok\n` };
      const problem = await runCheck(check, clock);
      return { name, problem, line: problem === undefined ? `[+]${name} ok\n` : `[-]${name} failed: ${problem}\n` };
    }),
  );
  const failed = results.some(({ problem }) => problem !== undefined);
  if (!failed && !query.has('verbose')) return plain(200, 'ok');
  const lines = results.sort((a, b) => (a.name < b.name ? -1 : 1)).map(({ line }) => line);
  return plain(failed ? 500 : 200, `${lines.join('')}readyz check ${failed ? 'failed' : 'passed'}\n`);
};

/** The response to a request. Never rejects. */
export const handleProbe = async (
  { readyz, metrics, clock }: ProbeOptions,
  request: { method: string; url: string },
): Promise<ProbeResponse> => {
  if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'GET is all that can be done here\n');
  const { pathname = '', searchParams = new URLSearchParams() } = URL.parse(request.url, 'http://localhost') ?? {};
  const path = pathname.replace(/\/$/, '');
  // No known state needs a restart, so any response means healthy.
  if (path === '/healthz') return plain(200, 'ok');
  if (path === '/readyz') return probeReadiness(readyz, clock, searchParams);
  const name = path.startsWith('/readyz/') ? path.slice('/readyz/'.length) : '';
  const check = readyz.get(name);
  if (check) return probeReadiness(new Map([[name, check]]), clock, searchParams);
  if (path !== '/metrics' || !metrics) return plain(404, 'there is /healthz, /readyz, /readyz/<check> and /metrics\n');
  try {
    return { code: 200, ...(await metrics()) };
  } catch (error) {
    return plain(500, `metrics could not be collected: ${errorMessage(error)}\n`);
  }
};
