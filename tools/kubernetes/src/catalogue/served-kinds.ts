/** The resources of the embedded server, by group version: plural → its subresources. */
export const servedResources: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  v1: {
    bindings: [],
    configmaps: [],
    events: [],
    namespaces: ['finalize', 'status'],
    nodes: ['status'],
    pods: ['attach', 'binding', 'eviction', 'exec', 'log', 'portforward', 'status'],
    secrets: [],
    serviceaccounts: ['token'],
  },
  'apiextensions.k8s.io/v1': { customresourcedefinitions: ['status'] },
  'apps/v1': { deployments: ['scale', 'status'], replicasets: ['scale', 'status'] },
  'authentication.k8s.io/v1': { selfsubjectreviews: [], tokenreviews: [] },
  'authorization.k8s.io/v1': {
    localsubjectaccessreviews: [],
    selfsubjectaccessreviews: [],
    selfsubjectrulesreviews: [],
    subjectaccessreviews: [],
  },
  'certificates.k8s.io/v1': { certificatesigningrequests: ['approval', 'status'] },
  'coordination.k8s.io/v1': { leases: [] },
  'events.k8s.io/v1': { events: [] },
  'rbac.authorization.k8s.io/v1': { clusterrolebindings: [], clusterroles: [], rolebindings: [], roles: [] },
};

/** Bodies of requests or responses that are not resources, and the document that describes them. */
export const bodyKinds = [
  { schema: 'io.k8s.api.policy.v1.Eviction', groupVersion: 'v1' },
  { schema: 'io.k8s.api.authentication.v1.TokenRequest', groupVersion: 'v1' },
  { schema: 'io.k8s.api.autoscaling.v1.Scale', groupVersion: 'apps/v1' },
  { schema: 'io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions', groupVersion: 'v1', kind: '/v1/DeleteOptions' },
  { schema: 'io.k8s.apimachinery.pkg.apis.meta.v1.Status', groupVersion: 'v1', kind: '/v1/Status' },
] as const satisfies readonly { schema: string; groupVersion: string; kind?: string }[];
