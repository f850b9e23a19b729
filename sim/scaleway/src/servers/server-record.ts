import type { Mac } from '@tartan/sim-mac';
import type { SimulatedServer } from '../scaleway.ts';
import type { Image } from './images.ts';
import type { UnderWay } from './under-way.ts';

/** One rented Mac, with what Scaleway keeps to itself. */
export interface ServerRecord extends SimulatedServer {
  /** The image of the last install, as it was then: it may be retired meanwhile. */
  os: Image;
  installs: number;
  mac: Mac | undefined;
  ip: string;
  readonly createdAt: number;
  updatedAt: number;
  /** Stays true across reinstalls (SDK, `Server.delivered`). */
  delivered: boolean;
  password: string;
  underWay?: UnderWay | undefined;
  /** Wiped halfway and not heard of again, until a reinstall that works. */
  unheard?: boolean;
}

/** States in which nothing else can be begun (`SERVER_TRANSIENT_STATUSES` of the SDK). */
export const transientStates: ReadonlySet<string> = new Set([
  'starting',
  'rebooting',
  'updating',
  'locking',
  'unlocking',
  'reinstalling',
  'busy',
]);

const day = 24 * 60 * 60_000;

/** Apple's licence: rented for a day at least. */
export const deletableAt = (server: Pick<ServerRecord, 'createdAt'>): number => server.createdAt + day;
