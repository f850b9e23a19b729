import type { Duplex, Readable, Writable } from 'node:stream';
import type { KubeObject } from '@tartan/kube';
import type { TerminalSize } from '@tartan/tart';
import type { LogRecord } from '../logs/log-record.ts';

/**
 * What the kubelet API needs of whoever runs Pods. Methods reject with HttpError where the client is to read why; anything else is an
 * error of ours, of which the client learns nothing but that.
 */
export interface PodRuntime {
  /** The Pods of this node as it knows them, with their status. From memory. */
  pods(): readonly KubeObject[];
  /**
   * The records of a container's log, as `readRecords` gives them. Ends when the container has ended, or `signal` fires; without `follow` at
   * the end of what is there.
   */
  readLog(container: ContainerName, options: LogRequest): Promise<AsyncIterable<LogRecord[]>>;
  /** Starts a command in the guest. Not idempotent. Ownership of the session goes to the caller, who ends it in any case. */
  exec(container: ContainerName, options: ExecRequest): Promise<RemoteSession>;
  /** The container's main process. Ending the session never ends that. */
  attach(container: ContainerName, options: StreamRequest): Promise<RemoteSession>;
  /** A connection to a port of the guest, half-open allowed. Rejects with HttpError when the guest refuses it. */
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
  /** Of the run before this one. */
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

/** A running command, or a view on the main process. */
export interface RemoteSession {
  /** The command sees its end. Absent unless the request asks for it. */
  readonly stdin: Writable | undefined;
  /** They end by themselves, at the latest when the command has ended. Read at the client's pace. */
  readonly stdout: Readable | undefined;
  readonly stderr: Readable | undefined;
  /** Of a session with a terminal. */
  resize(size: TerminalSize): void;
  /** Never rejects. */
  readonly result: Promise<RemoteResult>;
  /** The client is gone, or has everything: an exec'd command is killed, an attached one is let go of. Idempotent. */
  close(): void;
}

export type RemoteResult =
  | { readonly kind: 'exited'; readonly code: number }
  /** It could not be started, or nobody knows how it ended. */
  | { readonly kind: 'failed'; readonly message: string };

export interface Usage {
  readonly node: ResourceUsage;
  readonly containers: readonly (ContainerName & ResourceUsage & { readonly startedAt: number })[];
}

/** At a moment, in milliseconds since the epoch. What is not known is left out. */
export interface ResourceUsage {
  readonly at: number;
  readonly cpuSeconds?: number;
  readonly memoryBytes?: number;
}
