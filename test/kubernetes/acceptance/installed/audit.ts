import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { remoteRights } from '@tartan/provider';
import type { Harness } from './harness.ts';
import { namespace } from './values.ts';

/** A request in the API server's audit log, with the fields used here. */
export interface Audited {
  readonly user: string;
  readonly groups: readonly string[];
  readonly verb: string;
  /** `pods/eviction.policy`, or a path that is not a resource. */
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
  /** Without a name if the credentials were refused. */
  readonly user: { readonly username?: string; readonly groups?: readonly string[] };
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
  // A watch is logged at its start and again at its end, which may come after the log was read.
  omitStages: ['RequestReceived'],
  rules: [{ level: 'Metadata' }],
});

/** Flags for an audit log of the API server. */
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

/** All requests to that API server so far. */
export const readAudit = (folder: string): readonly Audited[] =>
  readFileSync(join(folder, 'audit.log'), 'utf8')
    .trim()
    .split('\n')
    .map((text) => {
      const line: Line = JSON.parse(text);
      return {
        user: line.user.username ?? '',
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

const core = `system:serviceaccount:${namespace}:capi-remote`;

/**
 * In the list of tuist/tuist#10981, but not used by core 1.14: `get` of Nodes and Pods. Used without streaming lists, and after a watch was
 * cut at a bad moment: `list` of watched kinds. Used with attached disks: `list` of PersistentVolumes.
 */
const mayBeUnused = ['get nodes', 'list nodes', 'get pods', 'list namespaces', 'list persistentvolumes'];

/** Kubernetes answers a kubelet that asks for a deleted Pod with Forbidden; no right would help. */
const isGonePod = ({ user, verb, what, message }: Audited): boolean =>
  user.startsWith('system:node:') && verb === 'get' && what === 'pods' && message.includes('no relationship found');

/** Checks the audit log of everything that happened before. */
export const testAuditLog = (on: () => Harness): void => {
  test('no request was forbidden', () => {
    const refused = on()
      .audit()
      // Not 401, which is about credentials: the API server knows a join token only some milliseconds after its Secret is stored.
      .filter((each) => each.code === 403 && !isGonePod(each))
      .map(
        ({ user, verb, what, namespace: where, name, message }) =>
          `${user}: ${verb} ${what} ${where}/${name}: ${message}`,
      );
    assert.deepEqual([...new Set(refused)], []);
  });

  test('Cluster API used every right of capi-remote, except those that are rarely needed', () => {
    const used = new Set(
      on()
        .audit()
        // The tests themselves use core's kubeconfig to check that it works.
        .filter(({ user, agent }) => user === core && agent !== 'tartan')
        .map(({ verb, what }) => `${verb} ${what.replace(/\..*$/, '')}`),
    );
    const granted = remoteRights.flatMap((right) =>
      right.verbs.flatMap((verb) =>
        ('resources' in right ? right.resources : right.nonResourceURLs).map((what) => `${verb} ${what}`),
      ),
    );
    assert.deepEqual(
      granted.filter((each) => !used.has(each) && !mayBeUnused.includes(each)),
      [],
    );
  });

  test('no secret is in the logs', () => {
    const { SCW_SECRET_KEY: secret = '?' } = on().macs.environment;
    assert.ok(!on().systemLogs().includes(secret));
  });
};
