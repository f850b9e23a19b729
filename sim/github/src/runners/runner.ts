import { parseBody } from '../api/handler.ts';
import type { JobRecord } from '../jobs/jobs.ts';

/** Restricts which repositories' jobs its runners may run. `repositories`: names without the account. Default: all. */
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
  /** Its credential. */
  readonly secret: string;
  /** Unknown until it connects. */
  os: 'unknown' | 'macOS' | 'Linux';
  isOnline: boolean;
  /** Whether GitHub has noticed its connection. */
  isAdmitted: boolean;
  session: Session | undefined;
  job: JobRecord | undefined;
  /** When it got the job. */
  busySince: number | undefined;
  isRemoved: boolean;
}

/** The only connection of a runner. */
export interface Session {
  readonly id: string;
  /** Answers its open request for work. */
  deliver: ((what: JobRecord | 'nothing') => void) | undefined;
}

export const isBusy = ({ busySince }: RunnerRecord): boolean => busySince !== undefined;

/** GitHub's limit, and that of `config.sh`. */
const maxNameLength = 64;
const maxLabels = 100;

const isText = (value: unknown): value is string => typeof value === 'string' && value.trim() !== '';

/** Why the request for a runner is invalid; undefined: it is valid. `runner_group_id` has no default (`docs.rs/runner-manager-github`). */
export const runnerError = (fields: Readonly<Record<string, unknown>>): string | undefined => {
  for (const key of ['name', 'runner_group_id', 'labels']) {
    if (fields[key] === undefined) return `object is missing required key: ${key}`;
  }
  const { name, runner_group_id: group, labels, work_folder: folder } = fields;
  if (!isText(name)) return `${JSON.stringify(name)} is not a name`;
  if (name.length > maxNameLength) return `name is longer than ${maxNameLength} characters`;
  if (!Number.isInteger(group)) return `${JSON.stringify(group)} is not an integer`;
  if (!Array.isArray(labels)) return `${JSON.stringify(labels)} is not an array`;
  if (labels.length < 1 || labels.length > maxLabels) return `labels has not between 1 and ${maxLabels} items`;
  if (!labels.every(isText)) return 'labels has an item that is no text';
  if (folder !== undefined && !isText(folder)) return `${JSON.stringify(folder)} is not a folder`;
  return undefined;
};

/**
 * The argument of `run.sh --jitconfig`: files of the runner's folder by name, each in base64, and the whole in base64 again
 * (`actions/runner`, `ConfigurationStore`). Opaque to everything but a runner.
 */
export const encodeJitConfig = (runner: RunnerRecord, url: string): string => {
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
  return encode({
    '.runner': encode({
      AgentId: String(runner.id),
      AgentName: runner.name,
      Ephemeral: 'True',
      GitHubUrl: `${url}/${runner.owner}`,
      PoolId: String(runner.groupID),
      ServerUrl: url,
      UseV2Flow: 'True',
      WorkFolder: runner.workFolder,
    }),
    '.credentials': encode({ Scheme: 'OAuth', Data: { ClientId: runner.secret } }),
  });
};

/** The runner's secret in such a text; undefined if there is none. */
export const secretIn = (encoded: string): string | undefined => {
  const decode = (text: unknown): Readonly<Record<string, unknown>> =>
    (typeof text === 'string' ? parseBody(Buffer.from(text, 'base64').toString()) : undefined) ?? {};
  const data = decode(decode(encoded)['.credentials'])['Data'];
  const secret = typeof data === 'object' && data !== null ? (data as Record<string, unknown>)['ClientId'] : undefined;
  return typeof secret === 'string' ? secret : undefined;
};
