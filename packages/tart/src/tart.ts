import type { RunOptions } from './arguments.ts';
import type { VmDetails, VmEntry } from './decode.ts';
import type { ExecOptions, ExecSession } from './exec.ts';
import type { PullProgress } from './pull-progress.ts';
import type { RunningVm } from './run.ts';

export interface CallControl {
  /** Aborts the call; it may have completed its work. */
  readonly signal?: AbortSignal | undefined;
}

/** For one registry, passed by environment: never in arguments, a keychain or a file. */
export interface RegistryCredentials {
  readonly host: string;
  readonly username: string;
  readonly password: string;
}

export interface PullOptions extends CallControl {
  readonly credentials?: RegistryCredentials | undefined;
  readonly onProgress?: (progress: PullProgress) => void;
}

export interface VmChanges {
  readonly cpu?: number;
  readonly memoryMb?: number;
  /** A new machine identifier: a clone has the one of its source (tuist/tuist#11929). Only while the VM is stopped. */
  readonly randomSerial?: boolean;
  readonly randomMac?: boolean;
}

/**
 * The `tart` command line. Stateless: every method reads or changes the current state of this Mac. All methods reject only with a
 * TartError, each within its deadline, and may run concurrently; tart itself serialises clones.
 */
export interface Tart {
  /** `2.32.1`. */
  version(control?: CallControl): Promise<string>;
  /** Local VMs and images. Side effect: tart cleans its download folder, so a killed pull starts again. */
  list(control?: CallControl): Promise<readonly VmEntry[]>;
  /** A local VM; `undefined` if it does not exist, never because of an error (INC-49). */
  get(name: string, control?: CallControl): Promise<VmDetails | undefined>;
  /** Pulls an image, or updates a moved tag. No deadline while it makes progress. Idempotent. */
  pull(image: string, options?: PullOptions): Promise<void>;
  /** From a local VM or a local image. Rejects with `already exists` if the name is taken (INC-429). */
  clone(source: string, name: string, options?: PullOptions): Promise<void>;
  /** Idempotent. Tart does not check whether the VM runs: the caller must. */
  set(name: string, changes: VmChanges, control?: CallControl): Promise<void>;
  /**
   * Starts a VM and resolves when the process exists; boot failures show in `exited`. The process survives ours and is found again in
   * the process table.
   */
  run(name: string, options: RunOptions): Promise<RunningVm>;
  /** Powers it off: SIGINT, then SIGKILL after the timeout. Idempotent, also if it does not exist. */
  stop(name: string, options: CallControl & { readonly timeoutSeconds: number }): Promise<void>;
  /** Deletes a VM or an image. Succeeds if it does not exist (INC-402). Rejects with `running` for a running VM. */
  delete(name: string, control?: CallControl): Promise<void>;
  /** The address of its last DHCP lease. A lease outlives its guest, so this does not mean that it runs. */
  ip(name: string, control?: CallControl): Promise<string | undefined>;
  /** Runs a command in the guest through its agent. The caller owns the session and must drain its streams. */
  exec(name: string, command: readonly string[], options?: ExecOptions): ExecSession;
}
