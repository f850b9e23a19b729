import type { Live } from '@tartan/kube';
import type { CoreCluster } from '@tartan/provider/decisions';
import type { World } from '../world/observe.ts';

/** What is asked in addition, when one thing is to be explained. */
export interface ExplainWorld extends World {
  /** Cluster API's own Clusters by `namespace/name`. */
  readonly clusters: ReadonlyMap<string, Live<CoreCluster>>;
  /** What people say that the manager was told; its flags are not seen from here. */
  readonly told: ToldManager;
}

export interface ToldManager {
  readonly defaultPoolPrefix: string | undefined;
  readonly claimNamePrefix: string | undefined;
}
