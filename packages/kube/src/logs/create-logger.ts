import type { Clock } from '../clock/clock.ts';
import { type Head, type Level, levels } from './head.ts';
import type { Fields, Logger } from './logger.ts';
import { type Plain, plainText, plainValue } from './plain-value.ts';
import { prettyLine } from './pretty-line.ts';
import { createRedactor, type Redactor } from './redactor.ts';

export interface LoggerOptions {
  /** Gets one line at a time, with its end. */
  write: (line: string) => void;
  clock: Clock;
  /** Lines below that are not written. At `debug`, errors come with their stacks. */
  level: Level;
  /** Share one with whoever learns of secrets. */
  redact?: Redactor;
  /** For a person at a terminal instead of a collector of logs. */
  pretty?: boolean;
}

/**
 * One line of JSON for each call: `ts`, `level`, `msg`, and the fields. Never throws and never answers: a log line that
 * cannot be written must not end what it tells of.
 */
export const createLogger = (options: LoggerOptions): Logger => {
  const redactor = options.redact ?? createRedactor();
  const format = options.pretty === true ? prettyLine : jsonLine;
  const plain = { redactor, stacks: options.level === 'debug' };

  const write = (level: Level, message: string, bound: Fields, fields: Fields): void => {
    if (levels.indexOf(level) < levels.indexOf(options.level)) return;
    try {
      const members = plainValue({ ...bound, ...fields }, plain);
      const ts = new Date(options.clock.now()).toISOString();
      options.write(`${format({ ts, level, msg: plainText(message, redactor) }, isMap(members) ? members : {})}\n`);
    } catch {
      // Standard output may be closed, or a field a Proxy that throws: there is nobody left to tell.
    }
  };

  const loggerWith = (bound: Fields): Logger => ({
    debug: (message, fields = {}) => write('debug', message, bound, fields),
    info: (message, fields = {}) => write('info', message, bound, fields),
    warn: (message, fields = {}) => write('warn', message, bound, fields),
    error: (message, fields = {}) => write('error', message, bound, fields),
    with: (fields) => loggerWith({ ...bound, ...fields }),
  });
  return loggerWith({});
};

/** A field named like one of ours gets a dash below: the line still says when, how grave and what. */
const jsonLine = (head: Head, members: { [key: string]: Plain }): string =>
  JSON.stringify({
    ...head,
    ...Object.fromEntries(
      Object.entries(members).map(([key, value]) => [Object.hasOwn(head, key) ? `${key}_` : key, value]),
    ),
  });

const isMap = (value: Plain): value is { [key: string]: Plain } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
