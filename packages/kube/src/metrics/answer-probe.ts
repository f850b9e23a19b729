import type { Clock } from '../clock/clock.ts';
import type { Checks } from './check.ts';
import { type Finding, runChecks } from './run-checks.ts';

export interface Answer {
  code: number;
  contentType: string;
  body: string;
}

export interface Answering {
  healthz: Checks;
  readyz: Checks;
  /** The text of `/metrics`; without it there is none. */
  metrics?: (() => Promise<{ contentType: string; body: string }>) | undefined;
  clock: Clock;
}

const plain = (code: number, body: string): Answer => ({ code, contentType: 'text/plain; charset=utf-8', body });
const notFound = plain(404, 'there is /healthz, /readyz and /metrics\n');

const lineOf = ({ name, wrong, excluded }: Finding): string => {
  if (excluded) return `[+]${name} excluded: ok\n`;
  return wrong === undefined ? `[+]${name} ok\n` : `[-]${name} failed: ${wrong}\n`;
};

/** The format of Kubernetes' own probes; unlike those it says what is wrong, for whoever reads it can read the logs, too. */
const report = (endpoint: string, findings: readonly Finding[], verbose: boolean): Answer => {
  const failed = findings.some(({ wrong }) => wrong !== undefined);
  if (!failed && !verbose) return plain(200, 'ok');
  return plain(
    failed ? 500 : 200,
    `${findings.map(lineOf).join('')}${endpoint} check ${failed ? 'failed' : 'passed'}\n`,
  );
};

const probe = async (endpoint: string, all: Checks, url: URL, name: string, clock: Clock): Promise<Answer> => {
  const one = all.get(name);
  if (name !== '' && !one)
    return plain(404, `there is no check ${name}; there is ${[...all.keys()].join(', ') || 'none'}\n`);
  const asked = one ? new Map([[name, one]]) : all;
  const findings = await runChecks(asked, url.searchParams.getAll('exclude'), clock);
  return report(endpoint, findings, url.searchParams.has('verbose'));
};

/** What to answer to a request, without any socket. Never rejects. */
export const answerProbe = async (
  { healthz, readyz, metrics, clock }: Answering,
  request: { method: string; url: string },
): Promise<Answer> => {
  if (request.method !== 'GET' && request.method !== 'HEAD') return plain(405, 'GET is all that can be done here\n');
  const url = URL.parse(request.url, 'http://localhost');
  const [endpoint, name = '', ...rest] = url?.pathname.slice(1).split('/') ?? [];
  if (!url || rest.length > 0) return notFound;
  if (endpoint === 'healthz') return probe(endpoint, healthz, url, name, clock);
  if (endpoint === 'readyz') return probe(endpoint, readyz, url, name, clock);
  if (endpoint !== 'metrics' || name !== '' || !metrics) return notFound;
  try {
    return { code: 200, ...(await metrics()) };
  } catch (error) {
    return plain(500, `metrics could not be collected: ${error instanceof Error ? error.message : String(error)}\n`);
  }
};
