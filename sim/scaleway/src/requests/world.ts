import type { Key } from '../keys/key.ts';
import type { ScalewayFaults } from '../scaleway.ts';
import type { Image } from '../servers/images.ts';
import type { ServerRecord } from '../servers/server-record.ts';

/** All that an answer depends on, at one moment. */
export interface World {
  readonly now: number;
  readonly pace: number;
  readonly organizationID: string;
  /** Of the key, if it holds for one project only. */
  readonly projectID: string | undefined;
  readonly secretKey: string;
  readonly permissions: readonly string[];
  /** In the order in which they were made. */
  readonly servers: ReadonlyMap<string, ServerRecord>;
  readonly images: readonly Image[];
  readonly keys: ReadonlyMap<string, Key>;
  readonly faults: Pick<ScalewayFaults, 'renameWhileReinstalling' | 'password' | 'goneServer'>;
  readonly newID: () => string;
}

/** Whether the key may see what belongs to that project. */
export const reaches = (world: World, projectID: string): boolean =>
  world.projectID === undefined || world.projectID === projectID;
