import {
  explainedRemoteRights,
  explainedRights,
  installRights,
  joinBinding,
  joinRights,
  type MacRight,
  macRights,
  uninstallRights,
} from '@tartan/provider';
import { explainedRunnersRBACRules } from '@tartan/runners';
import { code, codes, generated, row, table } from './markdown.ts';

/** The page about RBAC, from the tables that the roles are generated from. */

type Rule = (typeof explainedRemoteRights)[number];

/** As kubectl prints it. */
const withGroup = (resource: string, group: string): string => {
  const [kind = '', subresource] = resource.split('/');
  return `${group === '' ? kind : `${kind}.${group}`}${subresource ? `/${subresource}` : ''}`;
};

const whatOf = (rule: Rule): string => {
  if ('nonResourceURLs' in rule) return `path ${codes(rule.nonResourceURLs)}`;
  const { apiGroups, resources, resourceNames = [] } = rule;
  const kinds = apiGroups.flatMap((group) => resources.map((resource) => withGroup(resource, group)));
  return `${codes(kinds)}${resourceNames.length > 0 ? `, only ${codes(resourceNames)}` : ''}`;
};

const rules = (rows: readonly Rule[]): string[] =>
  table(
    ['resource', 'verbs', 'purpose'],
    rows.map((rule) => row(whatOf(rule), codes(rule.verbs), rule.for)),
  );

const ofMacs = (rows: readonly MacRight[]): string[] =>
  table(
    ['resource', 'verbs', 'scope', 'purpose'],
    rows.map(({ resource, verbs, of, for: why }) => row(resource, codes(verbs), of, why)),
  );

const releaseNamespace = 'NAMESPACE';
const leaderElection = {
  namespace: releaseNamespace,
  durations: { leaseMs: 0, renewDeadlineMs: 0, retryPeriodMs: 0 },
};
const provider = explainedRights({
  secretsNamespace: releaseNamespace,
  leaderElection,
  fleetSpread: { namespace: 'SPREAD_NAMESPACE', name: 'SPREAD_DEPLOYMENT' },
});
const runners = explainedRunnersRBACRules({ namespace: releaseNamespace, leaderElection });

/** Permissions of a ServiceAccount: in the whole cluster, and by namespace. */
const byPlace = ({ clusterWide, inNamespace }: typeof provider): string[] => [
  '### In the whole cluster',
  '',
  ...rules(clusterWide),
  ...Object.entries(inNamespace).flatMap(([namespace, rights]) => [
    '',
    `### In ${code(namespace)}`,
    '',
    ...rules(rights),
  ]),
];

export const rightsPage = (): string =>
  [
    generated,
    '',
    '# Permissions (RBAC)',
    '',
    'Every Kubernetes permission that Tartan needs, and why. The roles of the chart are generated from the same tables. A test on a real API',
    'server runs the manager with these permissions only, and fails on a call that they do not cover and on a permission that nothing uses',
    '(`test/kubernetes/provider-rights.test.ts`). `test/kubernetes/runners-rights.test.ts` does the same for the runners controller.',
    '`test/kubernetes/mac-rights.test.ts` tries what a Mac must not be able to do.',
    '',
    '## The manager',
    '',
    'One ServiceAccount. `NAMESPACE` is the namespace of the release, which is also `--secrets-namespace`. The manager reads Secrets there only.',
    '',
    ...byPlace(provider),
    '',
    '## The runners controller',
    '',
    'One ServiceAccount, if `runnersController.enabled` is set. It manages the RunnerPools in `NAMESPACE`, the namespace of the release. Elsewhere',
    'it can only read Nodes. RBAC has no name prefixes, so it can access every Pod, ServiceAccount and Secret in that namespace, not only those of',
    'its pools: keep other workloads out of the namespace.',
    '',
    ...byPlace(runners),
    '',
    '## Cluster API core (`capi-remote`)',
    '',
    'Cluster API core uses a kubeconfig with a token of this ServiceAccount, in the whole cluster.',
    '',
    ...rules(explainedRemoteRights),
    '',
    '## The hook that updates CRDs',
    '',
    'A Job that helm runs before an upgrade. It runs for seconds, and its roles are deleted with it.',
    '',
    ...rules(
      installRights.map((right) => ({
        ...right,
        for: right.resourceNames
          ? 'update the CRDs of Tartan'
          : 'create new CRDs. RBAC cannot restrict `create` by name',
      })),
    ),
    '',
    '## The hook that guards an uninstall',
    '',
    'A Job that helm runs before `helm uninstall`. It checks whether Macs would be left behind. It runs for seconds, and only reads.',
    '',
    ...rules([
      ...uninstallRights.clusterWide.map((right) => ({ ...right, for: 'find Macs that are being released' })),
      ...uninstallRights.inNamespace.map((right) => ({
        ...right,
        for: 'find machines that hold a Mac, in `NAMESPACE` only',
      })),
    ]),
    '',
    '## A Mac',
    '',
    'A Mac authenticates as `system:node:<name>` in the group `system:nodes`, with a certificate that is valid for seven days. Kubernetes grants',
    'every Node the following for its own objects only (Node authorizer, NodeRestriction). Tartan binds no role to Macs.',
    '',
    ...ofMacs(Object.values(macRights)),
    '',
    '## A Mac that joins',
    '',
    `A joining Mac has its own token, in the group ${code(joinBinding.group)}, which is bound to ${code(joinBinding.clusterRole)}. The token is valid for`,
    'one machine and a short time, and is deleted when the certificate is in use.',
    '',
    ...ofMacs(joinRights),
    '',
  ].join('\n');
