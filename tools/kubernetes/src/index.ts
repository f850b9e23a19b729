export { apiRequest } from './api-request.ts';
export type { BinaryName } from './build/recipes.ts';
export { buildPreviousRelease, type BuiltRelease, previousRelease, unpackPreviousRelease } from './previous-release.ts';
export { type BuildOptions, ensureBinaries } from './build.ts';
export { type ClusterApi, type ClusterApiOptions, type ClusterApiVersion, startClusterApi } from './cluster-api.ts';
export {
  type ControlPlane,
  type ControlPlaneOptions,
  type OwnControlPlane,
  startControlPlane,
} from './control-plane.ts';
export type { Identity, Subject } from './control-plane/certificates.ts';
export { type Access, formatKubeconfig } from './control-plane/kubeconfig.ts';
export { cataloguePath, dumpCatalogue } from './catalogue/catalogue.ts';
export { dumpRoles, rolesPath } from './catalogue/roles.ts';
export { testControlPlane } from './test-cluster.ts';
export { dumpProtobuf, protobufPath } from './catalogue/protobuf.ts';
