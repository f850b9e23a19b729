import type { TartReason } from '@tartan/tart';
import { z } from 'zod';
import { parseJson } from '../parse-json.ts';

/**
 * Whether this Mac can start virtual machines, judged by the starts since it booted. Pure: `starts.ts` keeps the evidence.
 *
 * One refused start says little: it may be the image, or a moment in which the framework has not let go of a guest that ended. A verdict
 * against the Mac needs three refusals in a row, and one of these:
 *
 *   | the refused starts since the last one that worked     | the verdict          | until                                         |
 *   |-------------------------------------------------------|----------------------|-----------------------------------------------|
 *   | "too many", with fewer running than the Mac may run   | slots leaked         | more run at a time than did then; a restart   |
 *   | of an image that has started since the Mac booted     | refused              | a start works; a restart                      |
 *   | of two images, or without a console session           | refused, perhaps     | the same, or nobody has tried for ten minutes |
 *   | of one image, and nothing has started since the boot  | refused, perhaps     | the same                                      |
 *   | of one image that never started, and others have      | none: it is the image | -                                            |
 *
 * "Perhaps" ends by itself because the images may be at fault: then nothing but a Pod with another one can show that the Mac works, and
 * the taint would keep that Pod away. A Pod that waits tries at least every five minutes, so ten minutes mean that none is left.
 */

const count = z.number().int().nonnegative();

const startHistory = z.object({
  bootID: z.string(),
  /** Images of which a guest was on since the Mac booted. */
  started: z.array(z.string()),
  /** Refusals since the last start that worked. */
  refused: z
    .object({ count, images: z.array(z.string()), noSession: z.boolean(), lastAt: z.number(), message: z.string() })
    .optional(),
  /** Refused as too many, with fewer running than the Mac may run: `running` is the fewest. */
  leaked: z.object({ count, running: count }).optional(),
});

export type StartHistory = Readonly<z.infer<typeof startHistory>>;

export interface RefusedStart {
  readonly reason: TartReason;
  readonly message: string;
  /** The digest where it is known, else the reference. */
  readonly image: string;
  /** Virtual machines on the Mac at that time, whoever started them. `undefined`: nobody could tell. */
  readonly running: number | undefined;
}

export type StartHealth =
  | { readonly kind: 'works' }
  | { readonly kind: 'refused'; readonly message: string }
  | { readonly kind: 'slots leaked'; readonly running: number; readonly total: number };

const minRefusals = 3;
const retryWindowMs = 10 * 60_000;
const maxImages = 20;

export const emptyHistory = (bootID: string): StartHistory => ({ bootID, started: [] });

/** As it was where nothing is new, so that nothing is written then. */
const withImage = (images: readonly string[], image: string): string[] =>
  images.includes(image) ? [...images] : [...images, image].slice(-maxImages);

export const afterRefusal = (before: StartHistory, refusal: RefusedStart, total: number, now: number): StartHistory => {
  const { image, message, reason, running } = refusal;
  if (reason === 'VM limit reached') {
    // As many run as may run: that is no trouble of the Mac.
    if (running === undefined || running >= total) return before;
    const { leaked } = before;
    return {
      ...before,
      leaked: { count: (leaked?.count ?? 0) + 1, running: Math.min(running, leaked?.running ?? running) },
    };
  }
  const { refused } = before;
  return {
    ...before,
    refused: {
      count: (refused?.count ?? 0) + 1,
      images: withImage(refused?.images ?? [], image),
      noSession: refused?.noSession === true || reason === 'no GUI session',
      lastAt: now,
      message,
    },
  };
};

/** A guest was on. `running`: how many are on at a time, with it. */
export const afterStart = (
  before: StartHistory,
  { image, running }: { image: string; running: number },
): StartHistory => {
  const { bootID, leaked, started } = before;
  return {
    bootID,
    started: withImage(started, image),
    ...(leaked !== undefined && leaked.running >= running && { leaked }),
  };
};

export const startHealth = ({ leaked, refused, started }: StartHistory, total: number, now: number): StartHealth => {
  if (leaked !== undefined && leaked.count >= minRefusals)
    return { kind: 'slots leaked', running: leaked.running, total };
  if (refused === undefined || refused.count < minRefusals) return { kind: 'works' };
  const { images, lastAt, message, noSession } = refused;
  const refusedHealth: StartHealth = { kind: 'refused', message };
  if (images.some((image) => started.includes(image))) return refusedHealth;
  if (images.length === 1 && started.length > 0 && !noSession) return { kind: 'works' };
  // A clock that was set back is no reason to wait.
  return Math.abs(now - lastAt) < retryWindowMs ? refusedHealth : { kind: 'works' };
};

/** `undefined`: torn, of another boot, or of a version that we do not know. */
export const parseHistory = (text: string, bootID: string): StartHistory | undefined => {
  const history = parseJson(startHistory, text);
  return history?.bootID === bootID ? history : undefined;
};
