import type * as z from 'zod/mini';

/** Parses and validates JSON. `undefined` for invalid JSON, or another shape. */
export const parseJson = <T>(schema: z.ZodMiniType<T>, text: string): T | undefined => {
  try {
    return schema.safeParse(JSON.parse(text)).data;
  } catch {
    return undefined;
  }
};
