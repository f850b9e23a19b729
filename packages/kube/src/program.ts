/** The world of the process, as far as the program touches it. */
export interface ProcessContext {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What was asked for: the help, the version. */
  readonly stdout: (text: string) => void;
  /** Logs and complaints. */
  readonly stderr: (text: string) => void;
  /** Fires when the process is asked to end. */
  readonly signal: AbortSignal;
}

export const exitCodes = {
  done: 0,
  /** A part failed, or leadership was lost: start again. */
  failed: 1,
  /** It was told what it cannot do: starting again will not help. */
  usage: 2,
} as const;
