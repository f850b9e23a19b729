/** An embedded Kubernetes for laptops and tests: a pure core (`handle`), HTTPS as a shell around it (`serve`). */
export { createKubernetes, type Kubernetes, type KubernetesOptions } from './kubernetes.ts';
export { serve } from './https/serve.ts';
export { nodeAuthorizer } from './auth/node-authorizer.ts';
export { adminKubeconfig } from './kubeconfig.ts';
export type { ApiRequest, ApiResponse, Handle } from './exchange/exchange.ts';
