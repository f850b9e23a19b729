/** Why a call of `tart` failed, as far as a caller can act on it. Closed: a text nobody knows is `other`. */
export type TartReason =
  /** No such virtual machine or image. */
  | 'missing'
  | 'already running'
  /** Also tart's `VM is running` for a delete: something needs it stopped. */
  | 'running'
  | 'not running'
  /** The name is taken. Only this driver says so: tart itself would replace what has the name (G29). */
  | 'already exists'
  | 'no space'
  /** Two macOS guests are on already, or the framework has lost slots. */
  | 'VM limit reached'
  /** Nobody is logged in at the console, or its keychain is locked. */
  | 'no GUI session'
  /** The Virtualization framework did not start it, and does not say whose fault that is. */
  | 'start refused'
  | 'guest agent unreachable'
  | 'registry refused'
  /** CPU, memory, a share or a name that tart or the framework does not take. */
  | 'invalid'
  /** An answer that cannot be understood. Never the same as `missing` (INC-49). */
  | 'unreadable'
  | 'timed out'
  | 'aborted'
  /** The program could not be started at all. */
  | 'not installed'
  | 'other';

export interface TartErrorDetails {
  /** The subcommand: `clone`. */
  readonly command: string;
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  /** The end of what tart wrote, without secrets. */
  readonly tail?: string;
  readonly cause?: unknown;
}

/** The one error of this package. Neither its text nor its tail holds a password, a token or a VNC address. */
export class TartError extends Error {
  readonly reason: TartReason;
  readonly command: string;
  readonly exitCode: number | undefined;
  readonly signal: string | undefined;
  readonly tail: string;
  constructor(reason: TartReason, message: string, details: TartErrorDetails) {
    super(message, details.cause === undefined ? undefined : { cause: details.cause });
    this.name = 'TartError';
    this.reason = reason;
    this.command = details.command;
    this.exitCode = details.exitCode;
    this.signal = details.signal;
    this.tail = details.tail ?? '';
  }
}

export const isTartError = (error: unknown, ...reasons: readonly TartReason[]): error is TartError =>
  error instanceof TartError && (reasons.length === 0 || reasons.includes(error.reason));
