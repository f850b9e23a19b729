import type { Live } from '@tartan/kube';
import type { Share } from '@tartan/tart';
import type { Pod } from '../pods/snapshot.ts';
import type { HostAddress } from '../pods/spec/environment.ts';
import type { RunnerMarkers } from './guest-status.ts';

export interface PreparedGuest {
  readonly shares: readonly Share[];
  /** Keys of envFrom that are invalid variable names: reported in an event and skipped. */
  readonly skipped: readonly string[];
}

/**
 * Inputs of guests (variables, tokens, projected volumes) and their reports (`status`), in shared folders. A guest can write
 * only to `status`, and everything there is untrusted (INC-34).
 */
export interface Guests {
  /**
   * Creates all inputs of a run from scratch; `status` is empty then. Reads ConfigMaps, Secrets and tokens live. Idempotent while the
   * VM is off. Rejects with GuestConfigError, or when the API server or the disk fails.
   */
  prepare(pod: Live<Pod>, vm: string, address: HostAddress, signal: AbortSignal): Promise<PreparedGuest>;
  /**
   * Replaces tokens of a running guest that are due for renewal, by atomic rename. Resolves with the time of the next call, in
   * milliseconds since the epoch; `undefined`: never. Rejects when a token could not be renewed; the old one stays.
   */
  renewTokens(pod: Live<Pod>, vm: string, signal: AbortSignal): Promise<number | undefined>;
  /** The result that the guest reported, bounded and validated (INC-33); the time comes from the guest too. */
  result(vm: string): Promise<{ readonly code: number; readonly at: number } | undefined>;
  /** The state of a runner in the guest. Never rejects. */
  runnerMarkers(vm: string): Promise<RunnerMarkers>;
  /** The share that the guest writes its log to; see `Runs`. */
  statusFolder(vm: string): string;
  /** Removes everything of this VM. Idempotent. */
  remove(vm: string): Promise<void>;
  /** Names of VMs with a folder, to find orphaned ones. */
  list(): Promise<readonly string[]>;
}

/**
 * The guest's inputs cannot be created until a user changes something; retried, as the object may be created later. The message is for
 * users, and never contains the content of a Secret or a token.
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
