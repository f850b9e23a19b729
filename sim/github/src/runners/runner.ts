import type { JobRecord } from '../jobs/job.ts';

/** Which runners may do which repositories' jobs. `repositories`: names without the account; all unless told. */
export interface RunnerGroup {
  readonly id: number;
  readonly name: string;
  readonly repositories?: readonly string[];
}

export const defaultGroup: RunnerGroup = { id: 1, name: 'Default' };

export interface RunnerRecord {
  readonly id: number;
  readonly name: string;
  /** `acme` or `acme/app`. */
  readonly owner: string;
  readonly groupID: number;
  readonly labels: readonly { readonly name: string; readonly type: 'read-only' | 'custom' }[];
  readonly isEphemeral: boolean;
  readonly workFolder: string;
  /** What it proves itself with. */
  readonly secret: string;
  /** Not known before it connects. */
  os: 'unknown' | 'macOS' | 'Linux';
  isOnline: boolean;
  /** Whether GitHub has noticed its connection. */
  isAdmitted: boolean;
  session: Session | undefined;
  job: JobRecord | undefined;
  /** When it was given the job. */
  busySince: number | undefined;
  isRemoved: boolean;
}

/** A connection of a runner, which it has one of. */
export interface Session {
  readonly id: string;
  /** Answers the question for work that it has open. */
  tell: ((what: JobRecord | 'nothing') => void) | undefined;
}

export const isBusy = ({ busySince }: RunnerRecord): boolean => busySince !== undefined;
