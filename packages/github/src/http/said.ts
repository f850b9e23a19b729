import { createRedactor } from '@tartan/kube';
import { z } from 'zod';

const refusal = z.object({ message: z.string() });
const redactor = createRedactor();
/** Tokens by their looks, old and new: nothing that GitHub says should have one in it, and nothing of ours will. */
const tokens = /\b(?:gh[a-z]_|github_pat_)\w+/g;
/** Long enough for any sentence of GitHub, short enough for a condition. */
const longest = 200;

/** GitHub's reason in its own words, on one line. Nothing else of a refusal is kept. */
export const saidIn = (body: unknown): string => {
  const text = refusal.safeParse(body).data?.message ?? '';
  const clean = redactor
    .text(text)
    .replaceAll(tokens, '[redacted]')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .replace(/\.$/, '');
  return clean.length > longest ? `${clean.slice(0, longest)}…` : clean;
};
