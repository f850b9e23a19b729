import { z } from 'zod';

/** What a script gets: its name and version, when it was true, and what could not be seen. A version never loses a field. */
export const dated = <Name extends string, Shape extends z.ZodRawShape>(name: Name, shape: Shape) =>
  z.strictObject({
    schema: z.literal(name),
    at: z.string().describe('When it was looked.'),
    ...shape,
    notes: z.array(z.string()).describe('What could not be seen, and why.'),
  });

/** Always there, so that a script can tell what is not known from what it has misspelled. */
export const nullable = <Type extends z.ZodType>(type: Type, description = '') =>
  description === '' ? type.nullable() : type.nullable().describe(description);
