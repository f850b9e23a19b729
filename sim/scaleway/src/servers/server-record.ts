import { randomInt } from 'node:crypto';
import type { Mac } from '@tartan/sim-mac';
import type { SimulatedServer } from '../scaleway.ts';
import type { Image } from './images.ts';

/** One rented Mac, with Scaleway's internal state. */
export interface ServerRecord extends SimulatedServer {
  /** The image of the last install, as it was then: it may be retired since. */
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
  /** Half wiped and unreachable, until a successful reinstall. */
  unreachable?: boolean;
}

/** States in which no other operation can start (`SERVER_TRANSIENT_STATUSES` of the SDK). */
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

/** Apple's licence: a Mac is rented for at least a day. */
export const deletableAt = (server: Pick<ServerRecord, 'createdAt'>): number => server.createdAt + day;

/** A pending operation of Scaleway. Saved with the server, so that it continues after a restart. */
export type PendingOperation =
  | { readonly kind: 'reboot'; readonly since: number /** The state that it comes back to. */; readonly before: string }
  | {
      readonly kind: 'reinstall';
      readonly since: number;
      readonly image: Image;
      /** Decided at the start, by the faults at that time. */
      readonly outcome: 'wiped' | 'not wiped' | 'failed';
    };

/** Observed: one to two minutes for a reboot, five to fifteen for a reinstall. */
const durations = { reboot: 90_000, reinstall: 10 * 60_000 } as const;

export const statusDuring = ({ kind }: PendingOperation): string => (kind === 'reboot' ? 'rebooting' : 'reinstalling');

/** The remaining duration. Never more than the whole, even if the clock has changed. */
export const remainingMs = ({ kind, since }: PendingOperation, now: number, pace: number): number =>
  Math.min(Math.max(0, since + durations[kind] * pace - now), durations[kind] * pace);

const alphanumerics = 'ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789';
/** Characters that must be escaped in a URL: a client that does not decode them gets a wrong password. */
const specialCharacters = '/@:#%+';

const draw = (letters: string): string => letters.charAt(randomInt(letters.length));

export const newPassword = (): string =>
  Array.from({ length: 11 }, () => draw(alphanumerics)).join('') + draw(specialCharacters);
