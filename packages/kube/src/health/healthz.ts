import type { Clock } from '../clock/clock.ts';
import { errorMessage } from '../errors/kube-error.ts';

/** Something that can be wrong: answers what is, or nothing when all is well. To throw counts as wrong, too. */
export type HealthCheck = () => string | undefined | Promise<string | undefined>;

/** By name. Checks may come and go while a server asks them. */
export type HealthChecks = Map<string, HealthCheck>;

interface CheckResult {
  name: string;
  /** What is wrong, on one line; undefined when nothing is. */
  failure: string | undefined;
  /** Was not asked, because the caller did not want it. */
  excluded?: boolean;
}

/** Probes give up after a second or more by default. A check that hangs is told apart from one that says no. */
const checkDeadlineMs = 800;

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

const runCheck = async (check: HealthCheck): Promise<string | undefined> => {
  try {
    const wrong = await check();
    return wrong === undefined ? undefined : oneLine(wrong);
  } catch (error) {
    return oneLine(errorMessage(error));
  }
};

const runCheckWithTimeout = (check: HealthCheck, clock: Clock): Promise<string | undefined> =>
  new Promise((resolve) => {
    const takeBack = clock.after(checkDeadlineMs, () => resolve(`no answer within ${checkDeadlineMs} ms`));
    void runCheck(check).then((wrong) => {
      takeBack();
      resolve(wrong);
    });
  });

/** All at the same time, sorted by name. */
const runChecks = async (checks: HealthChecks, excluded: readonly string[], clock: Clock): Promise<CheckResult[]> => {
  const findings = [...checks].map(async ([name, check]): Promise<CheckResult> => {
    if (excluded.includes(name)) return { name, failure: undefined, excluded: true };
    return { name, failure: await runCheckWithTimeout(check, clock) };
  });
  return (await Promise.all(findings)).sort((a, b) => (a.name < b.name ? -1 : 1));
};

export interface ProbeResponse {
  code: number;
  contentType: string;
  body: string;
}

interface ProbeOptions {
  readyz: HealthChecks;
  /** The text of `/metrics`; without it there is none. */
  metrics?: (() => Promise<{ contentType: string; body: string }>) | undefined;
  clock: Clock;
}

const plain = (code: number, body: string): ProbeResponse => ({ code, contentType: 'text/plain; charset=utf-8', body });
const notFound = plain(404, 'there is /healthz, /readyz and /metrics\n');

const lineOf = ({ name, failure, excluded }: CheckResult): string => {
  if (excluded) return `[+]${name} excluded: ok\n`;
  return failure === undefined ? `[+]${name} ok\n` : `[-]${name} failed: ${failure}\n`;
};

/** The format of Kubernetes' own probes; unlike those it says what is wrong, for whoever reads it can read the logs, too. */
const report = (endpoint: string, findings: readonly CheckResult[], verbose: boolean): ProbeResponse => {
  const failed = findings.some(({ failure }) => failure !== undefined);
  if (!failed && !verbose) return plain(200, 'ok');
  return plain(
    failed ? 500 : 200,
    `${findings.map(lineOf).join('')}${endpoint} check ${failed ? 'failed' : 'passed'}\n`,
  );
};

const probe = async (
  endpoint: string,
  all: HealthChecks,
  url: URL,
  name: string,
  clock: Clock,
): Promise<ProbeResponse> => {
  const one = all.get(name);
  if (name !== '' && !one)
    return plain(404, `there is no check ${name}; there is ${[...all.keys()].join(', ') || 'none'}\n`);
  const asked = one ? new Map([[name, one]]) : all;
  const findings = await runChecks(asked, url.searchParams.getAll('exclude'), clock);
  return report(endpoint, findings, url.searchParams.has('verbose'));
};

/** What to answer to a request, without any socket. Never rejects. */
export const handleProbe = async (
  { readyz, metrics, clock }: ProbeOptions,
  request: { method: string; url: string },
): Promise<ProbeResponse> => {
  if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'GET is all that can be done here\n');
  const url = URL.parse(request.url, 'http://localhost');
  const [endpoint, name = '', ...rest] = url?.pathname.slice(1).split('/') ?? [];
  if (!url || rest.length > 0) return notFound;
  // Nothing is known here that a restart would mend: that it answers is enough.
  if (endpoint === 'healthz') return probe(endpoint, new Map(), url, name, clock);
  if (endpoint === 'readyz') return probe(endpoint, readyz, url, name, clock);
  if (endpoint !== 'metrics' || name !== '' || !metrics) return notFound;
  try {
    return { code: 200, ...(await metrics()) };
  } catch (error) {
    return plain(500, `metrics could not be collected: ${errorMessage(error)}\n`);
  }
};
