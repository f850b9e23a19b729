import type { Live } from '@tartan/kube';
import type { Pod } from '../pods/snapshot.ts';
import type { GuestFolder } from './guest-folder.ts';
import { type Mint, type MintedToken, mintToken } from './mint-token.ts';
import { placeFile } from './place-file.ts';
import { isDue, readLives, type TokenLife, writeLives } from './token-life.ts';
import { filesOfToken, keyOfToken, type PlannedToken, plannedTokens } from './token-plan.ts';

/** A server that gives tokens for a moment only is not asked all the time. */
const shortestPauseMs = 60_000;

export const placeToken = async (folder: GuestFolder, planned: PlannedToken, minted: MintedToken): Promise<void> => {
  for (const path of filesOfToken(folder, planned)) await placeFile(folder.root, path, minted.token);
};

/**
 * Replaces the tokens that are due; see `Guests.renewTokens`. One that cannot be had keeps no other from being renewed. The file comes
 * before the record of its life: a crash between the two renews it once more.
 */
export const renewTokens = async (
  mint: Mint,
  folder: GuestFolder,
  pod: Live<Pod>,
  signal: AbortSignal,
): Promise<number | undefined> => {
  const planned = plannedTokens(pod);
  if (planned.length === 0) return undefined;
  const known = await readLives(folder);
  const now = mint.clock.now();
  const renewed = new Map<string, TokenLife>();
  const failures: unknown[] = [];
  await Promise.all(
    planned.map(async (token) => {
      const key = keyOfToken(token);
      const life = known[key];
      if (life !== undefined && !isDue(life, now)) return;
      try {
        const minted = await mintToken(mint, pod, token, signal);
        await placeToken(folder, token, minted);
        renewed.set(key, minted.life);
      } catch (error) {
        failures.push(error);
      }
    }),
  );
  const lives = { ...known, ...Object.fromEntries(renewed) };
  if (renewed.size > 0) await writeLives(folder, lives);
  if (failures.length > 0) throw failures[0];
  const next = Math.min(...planned.map((token) => lives[keyOfToken(token)]?.renewAt ?? now));
  return Math.max(next, now + shortestPauseMs);
};
