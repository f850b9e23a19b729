import type { z } from 'zod';

/** Parses and validates JSON. `undefined` for invalid JSON, or another shape. */
export const parseJson = <T>(schema: z.ZodType<T>, text: string): T | undefined => {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
