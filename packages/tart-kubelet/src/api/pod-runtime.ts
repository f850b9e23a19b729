import type { Duplex, Readable, Writable } from 'node:stream';
import type { KubeObject } from '@tartan/kube';
import type { TerminalSize } from '@tartan/tart';
import type { LogRecord } from '../logs/log-record.ts';

/**
 * The Pod runtime, as the kubelet API uses it. Methods reject with HttpError if the client should see the reason; other errors are
 * internal, and the client sees only a generic message.
 */
export interface PodRuntime {
  /** The Pods of this node with their status, from the cache. */
  pods(): readonly KubeObject[];
  /**
   * The log records of a container, as `readRecords` returns them. Ends when the container has ended or `signal` fires; without `follow` at
   * the end of the log.
   */
  readLog(container: ContainerName, options: LogRequest): Promise<AsyncIterable<LogRecord[]>>;
  /** Starts a command in the guest. Not idempotent. The caller owns the session and must close it. */
  exec(container: ContainerName, options: ExecRequest): Promise<RemoteSession>;
  /** Attaches to the container's main process. Closing the session does not end the process. */
  attach(container: ContainerName, options: StreamRequest): Promise<RemoteSession>;
  /** Connects to a port of the guest; half-open is allowed. Rejects with HttpError when the guest refuses the connection. */
  dial(pod: PodName, port: number, signal: AbortSignal): Promise<Duplex>;
  /** For `kubectl top`. */
  usage(): Promise<Usage>;
}

export interface PodName {
  readonly namespace: string;
  readonly pod: string;
}

export interface ContainerName extends PodName {
  readonly container: string;
}

export interface LogRequest {
  readonly follow: boolean;
  /** The log of the previous run. */
  readonly previous: boolean;
  readonly tailLines: number | undefined;
  readonly signal: AbortSignal;
}

export interface StreamRequest {
  readonly stdin: boolean;
  readonly stdout: boolean;
  /** Never together with `tty`. */
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface ExecRequest extends StreamRequest {
  readonly command: readonly string[];
}

/** A running command, or an attachment to the main process. */
export interface RemoteSession {
  /** Ending it sends EOF to the command. Absent unless requested. */
  readonly stdin: Writable | undefined;
  /** They end with the command at the latest. Read with backpressure from the client. */
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Only for a session with a terminal. */
  resize(size: TerminalSize): void;
  /** Never rejects. */
  readonly result: Promise<RemoteResult>;
  /**
   * Call when the client has disconnected or everything is sent: kills an exec'd command, detaches from an attached
   * one. Idempotent.
   */
  close(): void;
}

export type RemoteResult =
  | { readonly kind: 'exited'; readonly code: number }
  /** It could not be started, or its exit code is unknown. */
  | { readonly kind: 'failed'; readonly message: string };

export interface Usage {
  readonly node: ResourceUsage;
  readonly containers: readonly (ContainerName & ResourceUsage & { readonly startedAt: number })[];
}

/** Measured at `at`, milliseconds since the epoch. Unknown values are absent. */
export interface ResourceUsage {
  readonly at: number;
  readonly cpuSeconds?: number;
  readonly memoryBytes?: number;
}
