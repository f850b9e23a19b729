/** An embedded Kubernetes for laptops and tests: the API server (`handle`), and HTTPS around it (`serve`). */
export { adminKubeconfig, createKubernetes, type Kubernetes, type KubernetesOptions } from './kubernetes.ts';
export { serve } from './https/serve.ts';
export { bindClusterRole } from './authorization/bootstrap-policy.ts';
export { DataError, type DataProblem } from './storage/sqlite/database.ts';
export type { ApiRequest, ApiResponse, Handle } from './http-messages.ts';
