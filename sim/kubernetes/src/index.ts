/** An embedded Kubernetes for laptops and tests: a pure core (`handle`), HTTPS as a shell around it (`serve`). */
export { adminKubeconfig, createKubernetes, type Kubernetes, type KubernetesOptions } from './kubernetes.ts';
export { serve } from './https/serve.ts';
export { bindClusterRole } from './authorization/bootstrap-policy.ts';
export { DataError, type DataProblem } from './storage/sqlite/database.ts';
export type { ApiRequest, ApiResponse, Handle } from './http-messages.ts';
