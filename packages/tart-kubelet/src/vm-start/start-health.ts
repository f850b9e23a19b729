import type { TartReason } from '@tartan/tart';
import * as z from 'zod/mini';
import { parseJson } from '../parse-json.ts';

/**
 * Whether this Mac can start VMs, judged by the starts since it booted. Pure: `start-recorder.ts` stores the history.
 *
 * One refused start says little: the image may be at fault, or the framework has not released the slot of a guest that just ended. A
 * verdict against the Mac needs three consecutive refusals, and one of these:
 *
 *   | refused starts since the last success                | verdict               | until                                         |
 *   |------------------------------------------------------|-----------------------|-----------------------------------------------|
 *   | too many, with fewer running than the Mac allows     | slots leaked          | more VMs run at a time than then, or a reboot |
 *   | of an image that has started since the boot          | refused               | a start succeeds, or a reboot                 |
 *   | of two images, or without a console session          | refused, provisional  | the same, or ten minutes without an attempt   |
 *   | of one image, and nothing has started since the boot | refused, provisional  | the same                                      |
 *   | of one image that never started, and others have     | none: it is the image | -                                             |
 *
 * A provisional verdict expires because the images may be at fault: then only a Pod with another image can show that the Mac works, and
 * the taint would keep that Pod away. A waiting Pod retries at least every five minutes, so after ten minutes none is left.
 */

const count = z.int().check(z.nonnegative());

const startHistory = z.object({
  bootID: z.string(),
  /** Images of which a guest ran since the Mac booted. */
  started: z.array(z.string()),
  /** Refusals since the last successful start. */
  refused: z.optional(
    z.object({ count, images: z.array(z.string()), noSession: z.boolean(), lastAt: z.number(), message: z.string() }),
  ),
  /** Refused as too many although fewer ran than the Mac allows: `running` is the lowest count. */
  leaked: z.optional(z.object({ count, running: count })),
});

export type StartHistory = Readonly<z.infer<typeof startHistory>>;

export interface RefusedStart {
  readonly reason: TartReason;
  readonly message: string;
  /** The digest if known, else the reference. */
  readonly image: string;
  /** Running VMs at that time, started by this agent or not. `undefined`: unknown. */
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

/** Unchanged if the image is known, so that nothing is written. */
const withImage = (images: readonly string[], image: string): string[] =>
  images.includes(image) ? [...images] : [...images, image].slice(-maxImages);

export const afterRefusal = (before: StartHistory, refusal: RefusedStart, total: number, now: number): StartHistory => {
  const { image, message, reason, running } = refusal;
  if (reason === 'VM limit reached') {
    // The Mac was really full: not a problem of the Mac.
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

/** A guest ran. `running`: the number of running VMs including it. */
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
  // A clock set back must not extend the wait.
  return Math.abs(now - lastAt) < retryWindowMs ? refusedHealth : { kind: 'works' };
};

/** `undefined`: corrupt, from another boot, or of an unknown version. */
export const parseHistory = (text: string, bootID: string): StartHistory | undefined => {
  const history = parseJson(startHistory, text);
  return history?.bootID === bootID ? history : undefined;
};
