import type { KubectlScript } from '../script.ts';

/** The embedded server serves a subset of the kinds; these are their lines. */
const servedGroups =
  /^(v1|apiextensions\.k8s\.io|authentication\.k8s\.io|authorization\.k8s\.io|certificates\.k8s\.io|coordination\.k8s\.io|events\.k8s\.io|rbac\.authorization\.k8s\.io)(\/v1)?$/;
const servedCoreKinds = /^(NAME|bindings|configmaps|events|namespaces|nodes|pods|secrets|serviceaccounts) /;
/** The embedded server's schemas have no descriptions, so only names and types of fields are compared. */
const fields = { lines: /^(KIND|VERSION|GROUP|FIELDS|FIELD):|^\s+\S+\t<.*>|^error/ };

const servedElsewhere = [
  'apiextensions.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'certificates.k8s.io',
  'coordination.k8s.io',
  'events.k8s.io',
  'rbac.authorization.k8s.io',
];

export const discovery: KubectlScript = {
  title: 'discovery, versions and cluster information',
  namespace: 'discovery',
  steps: [
    'version',
    { run: 'version -o yaml', lines: /gitVersion|major|minor|kustomize|emulation|minCompat/i },
    { run: 'api-versions', lines: servedGroups },
    { run: "api-resources --api-group=''", lines: servedCoreKinds },
    { run: "api-resources --api-group='' -o wide", lines: servedCoreKinds },
    ...servedElsewhere.map((group) => `api-resources --api-group=${group} -o wide`),
    'api-resources --api-group=nothing.example',
    { run: 'api-resources --namespaced=false --api-group=certificates.k8s.io -o name' },
    ...[
      'pod',
      'pod.spec',
      'pod.spec.containers',
      'pod.spec.containers.resources',
      'pod.status.conditions',
      'node.spec.taints',
      'secret',
      'configmap --recursive',
      'lease.spec',
      'event',
      'events --api-version=events.k8s.io/v1',
      'csr.spec',
      'crd.spec.versions',
      'role.rules',
      'namespace.metadata',
      'serviceaccount',
    ].map((what) => ({ run: `explain ${what}`, ...fields })),
    'explain nothing',
    'explain pod.nothing',
    'get nothing',
    'get pods.nothing.example',
  ],
};
