import type { Live } from '@tartan/kube';
import type { Share } from '@tartan/tart';
import type { Pod } from '../pods/snapshot.ts';
import type { HostAddress } from '../pods/spec/environment.ts';
import type { RunnerMarkers } from './guest-status.ts';

export interface PreparedGuest {
  readonly shares: readonly Share[];
  /** Keys of envFrom that cannot be variables: reported in an event, and left out. */
  readonly skipped: readonly string[];
}

/**
 * What guests are given (variables, tokens, projected volumes) and what they say (`status`), in folders that they see as shares.
 * A guest can write to `status` alone, and nothing that it puts there is believed unread (INC-34).
 */
export interface Guests {
  /**
   * Lays out everything for a run of this Pod, anew and whole; `status` is empty then. Reads ConfigMaps, Secrets and tokens as the
   * server has them now. Safe to repeat while the virtual machine is off. Rejects with GuestConfigError, or when the server or the disk
   * does not answer.
   */
  prepare(pod: Live<Pod>, vm: string, address: HostAddress, signal: AbortSignal): Promise<PreparedGuest>;
  /**
   * Tokens of a running guest that are past most of their life are replaced in place, by rename. Answers when to call again, in
   * milliseconds since the epoch; `undefined`: never. Rejects when one could not be had; the old one stays.
   */
  renewTokens(pod: Live<Pod>, vm: string, signal: AbortSignal): Promise<number | undefined>;
  /** What the guest reported as its own result, bounded and checked (INC-33); the time is the guest's word too. */
  result(vm: string): Promise<{ readonly code: number; readonly at: number } | undefined>;
  /** What a runner in the guest says of itself. Never rejects. */
  runnerMarkers(vm: string): Promise<RunnerMarkers>;
  /** The share that the guest writes its log to; see `Runs`. */
  statusFolder(vm: string): string;
  /** Everything of this virtual machine. Not there is fine. */
  remove(vm: string): Promise<void>;
  /** Names of virtual machines of which there is something, so that what belongs to nobody can go. */
  list(): Promise<readonly string[]>;
}

/**
 * The guest cannot be given what its Pod names before somebody changes something: it is retried, as the object may come later. The message
 * is for people, and never has anything from inside a Secret or a token.
 */
export class GuestConfigError extends Error {
  readonly reason: 'CreateContainerConfigError' | 'TokenRefused';
  constructor(reason: GuestConfigError['reason'], message: string, cause?: unknown) {
    super(message, { cause });
    this.name = 'GuestConfigError';
    this.reason = reason;
  }
}

export const configError = (message: string): GuestConfigError =>
  new GuestConfigError('CreateContainerConfigError', message);
