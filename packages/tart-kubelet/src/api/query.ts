import { logTime } from '../logs/log-line.ts';
import { badRequest } from './problem.ts';
import type { ExecRequest, StreamRequest } from './pod-runtime.ts';

/** As Go's kubelet reads a flag: `1`, `true` and the like. */
const isSet = (query: URLSearchParams, name: string): boolean => {
  const value = query.get(name);
  if (value === null || /^(0|f|false)?$/i.test(value)) return false;
  if (/^(1|t|true)$/i.test(value)) return true;
  throw badRequest(`The parameter ${name} is neither true nor false`);
};

const wholeNumber = (query: URLSearchParams, name: string, least: number): number | undefined => {
  const text = query.get(name);
  if (text === null || text === '') return undefined;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= least) return value;
  throw badRequest(`The parameter ${name} must be a whole number of at least ${least}`);
};

export interface LogQuery {
  readonly follow: boolean;
  readonly previous: boolean;
  readonly timestamps: boolean;
  readonly tailLines: number | undefined;
  readonly limitBytes: number | undefined;
  /** In the form of a record's time. */
  readonly since: string | undefined;
}

const timePattern = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
/** Beyond the year 9999 a time has no form as a record's. */
const latest = Date.parse('9999-12-31T23:59:59Z');

const sinceIn = (query: URLSearchParams, now: number): string | undefined => {
  const seconds = wholeNumber(query, 'sinceSeconds', 1);
  const time = query.get('sinceTime') ?? '';
  if (seconds !== undefined && time !== '') throw badRequest('At most one of sinceTime and sinceSeconds may be given');
  if (seconds !== undefined) return logTime(Math.max(0, now - seconds * 1000));
  if (time === '') return undefined;
  const parsed = timePattern.test(time) ? Date.parse(time) : Number.NaN;
  if (Number.isNaN(parsed)) throw badRequest('The parameter sinceTime is no time in the form of RFC 3339');
  return logTime(Math.min(Math.max(0, parsed), latest));
};

export const parseLogQuery = (query: URLSearchParams, now: number): LogQuery => ({
  follow: isSet(query, 'follow'),
  previous: isSet(query, 'previous'),
  timestamps: isSet(query, 'timestamps'),
  tailLines: wholeNumber(query, 'tailLines', 0),
  limitBytes: wholeNumber(query, 'limitBytes', 1),
  since: sinceIn(query, now),
});

export const parseStreamQuery = (query: URLSearchParams): StreamRequest => {
  const tty = isSet(query, 'tty');
  const streams = {
    stdin: isSet(query, 'input'),
    stdout: isSet(query, 'output'),
    // A terminal has no stderr of its own.
    stderr: isSet(query, 'error') && !tty,
    tty,
  };
  if (streams.stdin || streams.stdout || streams.stderr) return streams;
  throw badRequest('You must ask for at least one of stdin, stdout and stderr');
};

export const parseExecQuery = (query: URLSearchParams): ExecRequest => {
  const command = query.getAll('command');
  if (command.length === 0 || command[0] === '') throw badRequest('You must say which command to run');
  if (command.some((word) => word.includes('\0'))) throw badRequest('No word of a command can hold a zero byte');
  return { ...parseStreamQuery(query), command };
};
