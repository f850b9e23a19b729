import { z } from 'zod';

const coded = z.object({ code: z.string().regex(/^[A-Z][A-Z0-9_]{2,60}$/) });
const wrapper = z.object({ cause: z.unknown() });
const several = z.object({ errors: z.array(z.unknown()).nonempty() });

/** `fetch failed` says nothing; the code of what lies below does (`ENOTFOUND`), and holds nothing but letters. */
export const failureCode = (error: unknown, depth = 0): string => {
  const own = coded.safeParse(error).data?.code;
  if (own !== undefined) return own;
  const below = wrapper.safeParse(error).data?.cause ?? several.safeParse(error).data?.errors[0];
  return below === undefined || depth > 4 ? 'the connection failed' : failureCode(below, depth + 1);
};
