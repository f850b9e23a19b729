import type { CommandOutcome } from '../connection/connection.ts';
import type { Artifact } from './artifact.ts';

/** How a push ended. After any of them, the store of the host holds only whole artifacts. */
export type PushOutcome =
  | { readonly kind: 'pushed' }
  /** The host has it, whole. Nothing was sent. */
  | { readonly kind: 'already there' }
  /** In bytes; `needed` counts what must stay free. */
  | { readonly kind: 'no space'; readonly free: number; readonly needed: number }
  /** The host got something else than what lies here. */
  | { readonly kind: 'arrived broken' }
  | { readonly kind: 'not pushed'; readonly outcome: FailedCommand };

export type FailedCommand = Exclude<CommandOutcome, { kind: 'done' }>;

/** Rounded up where more is needed, so that freeing what is said is enough. */
const megabytes = (bytes: number): string => `${Math.ceil(bytes / 1_000_000)} MB`;

const why = (outcome: FailedCommand): string => {
  switch (outcome.kind) {
    case 'command failed': {
      const end = outcome.signal === undefined ? `exit code ${outcome.code ?? 'unknown'}` : `signal ${outcome.signal}`;
      const said = outcome.stderr.trim().split('\n').at(-1) ?? '';
      return `the host refused it (${end})${said === '' ? '' : `: ${said}`}. Try again; see the host's log if it stays`;
    }
    case 'timed out':
      return `it took longer than ${outcome.after / 1000} s. Look at the network to the host, then try again`;
    case 'connection lost':
      return `the connection was lost (${outcome.cause}). Try again`;
    case 'input failed':
      return `it could not be read here: ${outcome.cause}. Prepare the artifact anew`;
    case 'aborted':
      return 'it was aborted. Try again';
  }
};

/** What happened, why, and what to do; `undefined` when all is well. May quote the host: redact it before it is shown. */
export const pushProblem = ({ name }: Artifact, outcome: PushOutcome): string | undefined => {
  switch (outcome.kind) {
    case 'pushed':
    case 'already there':
      return undefined;
    case 'no space':
      return `${name} was not pushed: the host has ${megabytes(outcome.free)} free and needs ${megabytes(outcome.needed)}. Free ${megabytes(outcome.needed - outcome.free)} on it, such as old images, then try again.`;
    case 'arrived broken':
      return `${name} was not pushed: it arrived broken, and the host kept nothing of it. Try again; if it stays so, check the host's disk.`;
    case 'not pushed':
      return `${name} was not pushed: ${why(outcome.outcome)}.`;
  }
};
