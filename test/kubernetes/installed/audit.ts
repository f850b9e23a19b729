import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A request as the API server's audit log has it, as far as we look. */
export interface Audited {
  readonly user: string;
  readonly groups: readonly string[];
  readonly verb: string;
  /** `pods/eviction.policy`, or a path that is no resource. */
  readonly what: string;
  readonly namespace: string;
  readonly name: string;
  readonly code: number;
  readonly message: string;
  readonly agent: string;
}

interface Line {
  readonly verb: string;
  readonly requestURI: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly objectRef?: {
    readonly resource?: string;
    readonly subresource?: string;
    readonly apiGroup?: string;
    readonly namespace?: string;
    readonly name?: string;
  };
  readonly responseStatus?: { readonly code?: number; readonly message?: string };
}

const policy = JSON.stringify({
  apiVersion: 'audit.k8s.io/v1',
  kind: 'Policy',
  // A watch is told of when it begins, and once more when it ends, which may be after somebody has looked.
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
});

/** What makes an API server write down who asked for what. */
export const auditFlags = (folder: string): readonly string[] => {
  const file = join(folder, 'audit-policy.json');
  writeFileSync(file, policy);
  return [`--audit-policy-file=${file}`, `--audit-log-path=${join(folder, 'audit.log')}`, '--audit-log-maxsize=2000'];
};

const whatOf = ({ requestURI, objectRef }: Line): string => {
  if (objectRef?.resource === undefined) return requestURI.split('?')[0] ?? '';
  const { resource, subresource, apiGroup } = objectRef;
  return `${resource}${subresource === undefined ? '' : `/${subresource}`}${apiGroup === undefined ? '' : `.${apiGroup}`}`;
};

/** All that was asked of that API server so far. */
export const readAudit = (folder: string): readonly Audited[] =>
  readFileSync(join(folder, 'audit.log'), 'utf8')
    .trim()
    .split('\n')
    .map((text) => {
      const line: Line = JSON.parse(text);
      return {
        user: line.user.username,
        groups: line.user.groups ?? [],
        verb: line.verb,
        what: whatOf(line),
        namespace: line.objectRef?.namespace ?? '',
        name: line.objectRef?.name ?? '',
        code: line.responseStatus?.code ?? 0,
        message: line.responseStatus?.message ?? '',
        agent: line.userAgent ?? '',
      };
    });
