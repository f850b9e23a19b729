import type { Image } from './images.ts';

/** What Scaleway is doing with a server. Kept with it, so that a data centre whose lights went out goes on with it. */
export type UnderWay =
  | { readonly kind: 'reboot'; readonly since: number /** The state that it comes back to. */; readonly before: string }
  | {
      readonly kind: 'reinstall';
      readonly since: number;
      readonly image: Image;
      /** How it will have gone. Decided when it begins, by the faults of then. */
      readonly outcome: 'wiped' | 'not wiped' | 'failed';
    };

/** Seen: one to two minutes for a reboot, five to fifteen for a reinstall. */
const takes = { reboot: 90_000, reinstall: 10 * 60_000 } as const;

export const stateDuring = ({ kind }: UnderWay): string => (kind === 'reboot' ? 'rebooting' : 'reinstalling');

/** How long it still lasts. Never longer than the whole, whatever became of the clock meanwhile. */
export const timeLeft = ({ kind, since }: UnderWay, now: number, pace: number): number =>
  Math.min(Math.max(0, since + takes[kind] * pace - now), takes[kind] * pace);
