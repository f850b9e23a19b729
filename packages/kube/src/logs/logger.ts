import type { Clock } from '../clock/clock.ts';
import { createRedactor, type Redactor } from './redaction.ts';
import { type JsonValue, sanitizeText, sanitizeValue } from './sanitize.ts';

/** Structured logs: a constant message with keys and values. For operators; users read conditions and events. */
export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A logger that adds these fields to every line. */
  with(fields: Fields): Logger;
}

export type Fields = Readonly<Record<string, unknown>>;

const levels = ['debug', 'info', 'warn', 'error'] as const;
type Level = (typeof levels)[number];

/** The first fields of every line. */
interface LineHeader {
  ts: string;
  level: Level;
  msg: string;
}

/** `12:00:00.000 WARN  message  key=value`, stacks below. Escapes all terminal control sequences. */
const prettyLine = ({ ts, level, msg }: LineHeader, members: { [key: string]: JsonValue }): string => {
  const fields = Object.entries(members).map(([key, value]) => `${escapeControlCharacters(key)}=${formatField(value)}`);
  const stacks = Object.values(members).flatMap(stackOf);
  return [
    [`${ts.slice(11, 23)} ${level.toUpperCase().padEnd(5)} ${escapeControlCharacters(msg)}`, ...fields].join('  '),
    ...stacks,
  ].join('\n');
};

const formatField = (value: JsonValue): string => {
  if (typeof value === 'string')
    return /^[\w.:/@%+,-]+$/.test(value) ? value : escapeControlCharacters(JSON.stringify(value));
  const stack = stackOf(value).length > 0;
  return escapeControlCharacters(JSON.stringify(stack && isJsonMap(value) ? { ...value, stack: undefined } : value));
};

const stackOf = (value: JsonValue): string[] => {
  const stack = isJsonMap(value) ? value['stack'] : undefined;
  return typeof stack === 'string'
    ? stack.split('\n').map((line) => `    ${escapeControlCharacters(line.trim())}`)
    : [];
};

const isJsonMap = (value: JsonValue): value is { [key: string]: JsonValue } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Escapes control and formatting characters: a log line may contain untrusted text. */
const escapeControlCharacters = (text: string): string =>
  text.replaceAll(
    /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

export interface LoggerOptions {
  /** Called with one line at a time, including its newline. */
  write: (line: string) => void;
  clock: Clock;
  /** Minimum log level. At `debug`, errors include their stacks. */
  level: Level;
  /** Share it with all code that obtains secrets. */
  redact?: Redactor;
  /** For a terminal instead of a log collector. */
  pretty?: boolean;
}

/**
 * One line of JSON per call: `ts`, `level`, `msg`, and the fields. Never throws: a failed log line must not end the
 * work it describes.
 */
export const createLogger = (options: LoggerOptions): Logger => {
  const redactor = options.redact ?? createRedactor();
  const format = options.pretty === true ? prettyLine : jsonLine;
  const plain = { redactor, stacks: options.level === 'debug' };

  const write = (level: Level, message: string, bound: Fields, fields: Fields): void => {
    if (levels.indexOf(level) < levels.indexOf(options.level)) return;
    try {
      const members = sanitizeValue({ ...bound, ...fields }, plain);
      const ts = new Date(options.clock.now()).toISOString();
      options.write(
        `${format({ ts, level, msg: sanitizeText(message, redactor) }, isJsonMap(members) ? members : {})}\n`,
      );
    } catch {
      // Standard output may be closed, or a field may be a Proxy that throws: the error cannot be reported.
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

/** A field with the name of a header field gets an underscore, so that it does not overwrite `ts`, `level` or `msg`. */
const jsonLine = (head: LineHeader, members: { [key: string]: JsonValue }): string =>
  JSON.stringify({
    ...head,
    ...Object.fromEntries(
      Object.entries(members).map(([key, value]) => [Object.hasOwn(head, key) ? `${key}_` : key, value]),
    ),
  });
