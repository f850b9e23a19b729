/** Structured logs: a constant message, and keys with values. For operators; users read conditions and events. */
export interface Logger {
  debug(message: string, fields?: Fields): void;
  info(message: string, fields?: Fields): void;
  warn(message: string, fields?: Fields): void;
  error(message: string, fields?: Fields): void;
  /** A logger that adds these fields to every line. */
  with(fields: Fields): Logger;
}

export type Fields = Readonly<Record<string, unknown>>;
