import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { placeFile } from './place-file.ts';
import type { GuestFolder } from './guest-folder.ts';

/** In milliseconds since the epoch, on the Mac's clock. */
export interface TokenLife {
  readonly mintedAt: number;
  readonly renewAt: number;
}

/** A kubelet renews after so much of a token's life, and after a day in any case. */
const shareOfLife = 0.8;
const longestMs = 24 * 3600 * 1000;

/**
 * The server may give less than was asked for, and its clock may not be ours. So the time that is left counts where it is shorter, unless
 * it says that the new token is over already: then it is the clocks that differ, and what was asked for is the better guess.
 */
export const lifeOf = (now: number, seconds: number, expiresAt: number): TokenLife => {
  const asked = seconds * 1000;
  const left = expiresAt - now;
  const life = left > 0 && left < asked ? left : asked;
  return { mintedAt: now, renewAt: now + Math.min(life * shareOfLife, longestMs) };
};

/** Also when the clock was set back behind its beginning: nobody knows how old it is then. */
export const isDue = ({ mintedAt, renewAt }: TokenLife, now: number): boolean => now >= renewAt || now < mintedAt;

const livesSchema = z.record(z.string(), z.object({ mintedAt: z.number(), renewAt: z.number() }));

export type TokenLives = Readonly<Record<string, TokenLife>>;

/** Whatever cannot be read is not known, and so renewed at once. */
export const readLives = async ({ tokenLives }: GuestFolder): Promise<TokenLives> => {
  try {
    return livesSchema.parse(JSON.parse(await readFile(tokenLives, 'utf8')));
  } catch {
    return {};
  }
};

export const writeLives = ({ root, tokenLives }: GuestFolder, lives: TokenLives): Promise<void> =>
  placeFile(root, tokenLives, JSON.stringify(lives));
