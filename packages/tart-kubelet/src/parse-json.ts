import type { z } from 'zod';

/** The value in a JSON text. `undefined` for what is no JSON, or does not have this shape. */
export const parseJson = <T>(schema: z.ZodType<T>, text: string): T | undefined => {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
