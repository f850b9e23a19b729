import { formatLogTime } from '../logs/log-record.ts';
import { badRequest, HttpError } from './http-response.ts';
import type { ContainerName, ExecRequest, PodName, StreamRequest } from './pod-runtime.ts';

/** What a request addresses. */
export type Route =
  | { readonly kind: 'containerLogs' | 'exec' | 'attach'; readonly container: ContainerName }
  | { readonly kind: 'portForward'; readonly pod: PodName }
  | { readonly kind: 'pods' | 'metrics' | 'resourceMetrics' | 'noMetrics' | 'health' };

const fixedRoutes: Readonly<Record<string, Route>> = {
  '/pods': { kind: 'pods' },
  '/metrics': { kind: 'metrics' },
  '/metrics/resource': { kind: 'resourceMetrics' },
  // kube-prometheus-stack scrapes these two of every kubelet, and alerts (TargetDown) on a 404.
  '/metrics/cadvisor': { kind: 'noMetrics' },
  '/metrics/probes': { kind: 'noMetrics' },
  '/healthz': { kind: 'health' },
};

/** Kubernetes names: short, lower case, no path traversal. */
const namePattern = /^[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?$/;

const namesIn = (path: string, count: number): string[] => {
  const names = path.split('/').slice(2);
  if (names.length !== count) throw new HttpError(404, 'There is nothing at this path');
  if (!names.every((name) => namePattern.test(name))) throw badRequest('The path holds what is no name in Kubernetes');
  return names;
};

const routeOf = (path: string): Route => {
  const simple = Object.hasOwn(fixedRoutes, path) ? fixedRoutes[path] : undefined;
  if (simple) return simple;
  const [, first = ''] = path.split('/');
  switch (first) {
    case 'containerLogs':
    case 'exec':
    case 'attach': {
      const [namespace = '', pod = '', container = ''] = namesIn(path, 3);
      return { kind: first, container: { namespace, pod, container } };
    }
    case 'portForward': {
      const [namespace = '', pod = ''] = namesIn(path, 2);
      return { kind: first, pod: { namespace, pod } };
    }
    default:
      throw new HttpError(404, 'There is nothing at this path');
  }
};

/** Routes that are upgraded from HTTP. */
const isStreaming = ({ kind }: Route): boolean => kind === 'exec' || kind === 'attach' || kind === 'portForward';

/** Throws only HttpError. Does not decode percent signs: no valid name needs them. */
export const parseRequest = (method: string, url: string): { route: Route; query: URLSearchParams } => {
  const [path = '', ...query] = url.split('?');
  const route = routeOf(path);
  const methods = isStreaming(route) ? ['GET', 'POST'] : ['GET', 'HEAD'];
  if (!methods.includes(method)) throw new HttpError(405, `Only ${methods.join(' and ')} are allowed here`);
  return { route, query: new URLSearchParams(query.join('?')) };
};

/** Booleans as the Go kubelet parses them: `1`, `true` and so on. */
const booleanParameter = (query: URLSearchParams, name: string): boolean => {
  const value = query.get(name);
  if (value === null || /^(0|f|false)?$/i.test(value)) return false;
  if (/^(1|t|true)$/i.test(value)) return true;
  throw badRequest(`The parameter ${name} is neither true nor false`);
};

const integerParameter = (query: URLSearchParams, name: string, least: number): number | undefined => {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  throw badRequest(`The parameter ${name} must be a whole number of at least ${least}`);
};

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
/** The log's time format ends with the year 9999. */
const maxTime = Date.parse('9999-12-31T23:59:59Z');

/** In the log's time format. */
const parseSince = (query: URLSearchParams, now: number): string | undefined => {
  const seconds = integerParameter(query, 'sinceSeconds', 1);
  const time = query.get('sinceTime') ?? '';
  if (seconds !== undefined && time !== '') throw badRequest('At most one of sinceTime and sinceSeconds may be given');
  if (seconds !== undefined) return formatLogTime(Math.max(0, now - seconds * 1000));
  if (time === '') return undefined;
  const parsed = timePattern.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(parsed)) throw badRequest('The parameter sinceTime is no time in the form of RFC 3339');
  return formatLogTime(Math.min(Math.max(0, parsed), maxTime));
};

export const parseLogQuery = (query: URLSearchParams, now: number) => ({
  follow: booleanParameter(query, 'follow'),
  previous: booleanParameter(query, 'previous'),
  timestamps: booleanParameter(query, 'timestamps'),
  tailLines: integerParameter(query, 'tailLines', 0),
  limitBytes: integerParameter(query, 'limitBytes', 1),
  since: parseSince(query, now),
});

export const parseAttachQuery = (query: URLSearchParams): StreamRequest => {
  const tty = booleanParameter(query, 'tty');
  const streams = {
    stdin: booleanParameter(query, 'input'),
    stdout: booleanParameter(query, 'output'),
    // A terminal has no separate stderr.
    stderr: booleanParameter(query, 'error') && !tty,
    tty,
  };
  if (streams.stdin || streams.stdout || streams.stderr) return streams;
  throw badRequest('You must ask for at least one of stdin, stdout and stderr');
};

export const parseExecQuery = (query: URLSearchParams): ExecRequest => {
  const command = query.getAll('command');
  if (command.length === 0 || command[0] === '') throw badRequest('You must say which command to run');
  if (command.some((word) => word.includes('\0'))) throw badRequest('No word of a command can hold a zero byte');
  return { ...parseAttachQuery(query), command };
};
