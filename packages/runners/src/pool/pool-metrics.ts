import type { ObjectName } from '@tartan/kube';

/** How a runner ended. */
export type RunResult = 'succeeded' | 'failed';

/** Told of what happens only once. How a pool is can be seen at any time. Nothing here may throw. */
export interface PoolMetrics {
  /** A Pod that had ended was taken away. */
  reaped(pool: ObjectName, result: RunResult): void;
  /** How long its virtual machine ran, if that is known. */
  ran(pool: ObjectName, result: RunResult, seconds: number): void;
  /** A runner that never connected, or lost its connection for good, was retired to free its slot. */
  unreachable(pool: ObjectName): void;
  /** The pool is gone. */
  forget(pool: ObjectName): void;
}
