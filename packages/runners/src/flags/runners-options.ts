import { type ManagerOptions, managerOptions, type Read } from '@tartan/kube/flags';
import type { Limits } from '../pool/limits.ts';
import { flags } from './flag-table.ts';

/** What the runners controller was told to be. Holds no secret. */
export interface RunnersOptions extends ManagerOptions {
  readonly kubeconfigPath: string | undefined;
  readonly namespace: string;
  readonly githubURL: string;
  readonly limits: Limits;
}

/** Assumes that no rule objects: there is a namespace. */
export const runnersOptions = (read: Read): RunnersOptions => {
  const namespace = read(flags.namespace) ?? '';
  return {
    ...managerOptions(flags, read, namespace),
    kubeconfigPath: read(flags.kubeconfig),
    namespace,
    githubURL: read(flags.githubAPIURL),
    limits: {
      settleMs: read(flags.settleSeconds) * 1000,
      stuckAfterMs: read(flags.stuckAfterSeconds) * 1000,
    },
  };
};
