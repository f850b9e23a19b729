import { randomInt } from 'node:crypto';
import type { Mac } from '@tartan/sim-mac';
import type { SimulatedServer } from '../scaleway.ts';
import type { Image } from './images.ts';

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
  underWay?: PendingOperation | undefined;
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

/** What Scaleway is doing with a server. Kept with it, so that a data centre whose lights went out goes on with it. */
export type PendingOperation =
  | { readonly kind: 'reboot'; readonly since: number /** The state that it comes back to. */; readonly before: string }
  | {
      readonly kind: 'reinstall';
      readonly since: number;
      readonly image: Image;
      /** How it will have gone. Decided when it begins, by the faults of then. */
      readonly outcome: 'wiped' | 'not wiped' | 'failed';
    };

/** Seen: one to two minutes for a reboot, five to fifteen for a reinstall. */
const durations = { reboot: 90_000, reinstall: 10 * 60_000 } as const;

export const statusDuring = ({ kind }: PendingOperation): string => (kind === 'reboot' ? 'rebooting' : 'reinstalling');

/** How long it still lasts. Never longer than the whole, whatever became of the clock meanwhile. */
export const remainingMs = ({ kind, since }: PendingOperation, now: number, pace: number): number =>
  Math.min(Math.max(0, since + durations[kind] * pace - now), durations[kind] * pace);

const alphanumerics = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
/** What a URL must not hold as it is: a reader who forgets to decode it gets the wrong password. */
const specialCharacters = '/@:#%+';

const draw = (letters: string): string => letters.charAt(randomInt(letters.length));

export const newPassword = (): string =>
  Array.from({ length: 11 }, () => draw(alphanumerics)).join('') + draw(specialCharacters);
