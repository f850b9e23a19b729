/** An embedded Kubernetes for laptops and tests: a pure core (`handle`), HTTPS as a shell around it (`serve`). */
export { createKubernetes, type Kubernetes, type KubernetesOptions } from './kubernetes.ts';
export { serve } from './https/serve.ts';
export { bindClusterRole } from './auth/roles/bind-cluster-role.ts';
export { adminKubeconfig } from './kubeconfig.ts';
export { DataError, type DataProblem } from './storage/sqlite/data-error.ts';
export type { ApiRequest, ApiResponse, Handle } from './exchange/exchange.ts';
