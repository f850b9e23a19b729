import { open, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Who sends which requests, by the audit log of the API server. */
export interface Audit {
  /** For the API server. */
  readonly flags: readonly string[];
  /** The requests of a user since the last call for this user. */
  taken(user: string): Promise<AuditedRequest[]>;
}

export interface AuditedRequest {
  readonly verb: string;
  /** With its subresource. */
  readonly resource: string;
}

interface AuditLine {
  readonly auditID: string;
  readonly stage: string;
  readonly verb: string;
  readonly user: { readonly username: string };
  readonly objectRef?: { readonly resource?: string; readonly subresource?: string };
}

export const createAudit = async (folder: string, users: readonly string[]): Promise<Audit> => {
  const policy = join(folder, 'audit-policy.json');
  const log = join(folder, 'audit.log');
  await writeFile(log, '');
  await writeFile(
    policy,
    JSON.stringify({
      apiVersion: 'audit.k8s.io/v1',
      kind: 'Policy',
      omitStages: ['RequestReceived', 'ResponseStarted'],
      rules: [{ level: 'Metadata', users }, { level: 'None' }],
    }),
  );
  const offsets = new Map<string, number>();
  return {
    flags: [`--audit-policy-file=${policy}`, `--audit-log-path=${log}`],
    taken: async (user) => {
      const from = offsets.get(user) ?? 0;
      const { size } = await stat(log);
      const file = await open(log);
      const { buffer } = await file.read(Buffer.alloc(size - from), 0, size - from, from);
      await file.close();
      const end = buffer.lastIndexOf('\n') + 1;
      offsets.set(user, from + end);
      return buffer
        .subarray(0, end)
        .toString()
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => JSON.parse(line) as AuditLine)
        .filter((line) => line.user.username === user)
        .map(({ verb, objectRef: { resource = '', subresource } = {} }) => ({
          verb,
          resource: subresource === undefined ? resource : `${resource}/${subresource}`,
        }));
    },
  };
};

/** Without watches, which stay open for minutes. */
export const withoutWatches = (requests: readonly AuditedRequest[]): AuditedRequest[] =>
  requests.filter(({ verb }) => verb !== 'watch');

const reads: ReadonlySet<string> = new Set(['get', 'list', 'watch']);
export const writesIn = (requests: readonly AuditedRequest[]): AuditedRequest[] =>
  requests.filter(({ verb }) => !reads.has(verb));

/** The most frequent requests first: `812 get machosts, …`. */
export const summary = (requests: readonly AuditedRequest[]): string => {
  const counts = new Map<string, number>();
  for (const { verb, resource } of requests) {
    const what = `${verb} ${resource}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const rows = [...counts].toSorted(([, a], [, b]) => b - a).map(([what, count]) => `${count} ${what}`);
  return rows.length === 0 ? 'none' : rows.join(', ');
};
