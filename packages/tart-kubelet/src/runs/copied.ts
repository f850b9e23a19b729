import { readFileSync } from 'node:fs';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { z } from 'zod';

const count = z.number().int().nonnegative();

/** Which file, and how far into it. */
const position = z.object({ file: count, offset: count });

const copied = z.object({
  version: z.literal(1),
  /** tart's own output. */
  raw: position,
  /** The guest's log. */
  guest: position,
  /** The end of what was cut off the raw output: how a run ended may stand there. */
  cutOff: z.string().optional(),
  /** The raw output was about to be cut, or is. */
  cutting: z.literal(true).optional(),
  /** Nothing more will be copied. */
  finished: z.literal(true).optional(),
});

export type Position = Readonly<z.infer<typeof position>>;

/** How much of a log's sources is in it. Behind the log by one chunk at most, never ahead of it. */
export type Copied = Readonly<z.infer<typeof copied>>;

const start: Position = { file: 0, offset: 0 };
export const nothingCopied: Copied = { version: 1, raw: start, guest: start };

/** Too much is copied again rather than anything lost: what cannot be read says that nothing was copied. */
const parse = (text: string): Copied => {
  try {
    return copied.safeParse(JSON.parse(text)).data ?? nothingCopied;
  } catch {
    return nothingCopied;
  }
};

export const formatCopied = (one: Copied): string => `${JSON.stringify(one)}\n`;

export const readCopied = async (path: string): Promise<Copied> => parse(await readFile(path, 'utf8').catch(() => ''));

/** For those who cannot wait. The file has a few hundred bytes. */
export const readCopiedNow = (path: string): Copied => {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch {
    return nothingCopied;
  }
};

/** Whole or not at all when the agent is killed. A power cut, after which there is no virtual machine either, may take back the last one. */
export const writeCopied = async (path: string, one: Copied): Promise<void> => {
  const fresh = `${path}.new`;
  await writeFile(fresh, formatCopied(one), { mode: 0o600 });
  await rename(fresh, path);
};
