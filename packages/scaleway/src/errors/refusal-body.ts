import { z } from 'zod';

const word = z.string().optional().catch(undefined);

const detail = z
  .object({
    action: word,
    resource: word,
    argument_name: word,
    reason: word,
    help_message: word,
  })
  .catch({});

/** What Scaleway writes into the body of a refusal, as far as we read it. Anything may be missing: the status alone is enough. */
const refusalBody = z
  .object({
    type: word,
    message: word,
    help_message: word,
    current_state: word,
    reset_seconds: z.number().nonnegative().optional().catch(undefined),
    reset_at: word,
    details: z.array(detail).optional().catch(undefined),
  })
  .catch({});

export type RefusalBody = z.output<typeof refusalBody>;

/** An HTML page, half an answer or nothing at all is a body that says nothing. */
export const readRefusal = (body: unknown): RefusalBody => refusalBody.parse(body);

/** Long enough for any sentence of Scaleway, short enough for a condition. */
const longestText = 300;

/** The reason in Scaleway's words, on one line. */
export const textOf = (body: RefusalBody): string => {
  const details = (body.details ?? []).map(({ action, resource, argument_name, reason, help_message }) =>
    [action, argument_name, reason, resource, help_message]
      .filter((part) => part !== undefined && part !== '')
      .join(' '),
  );
  const parts = [body.message ?? '', body.help_message ?? '', ...details].filter((part) => part !== '');
  return parts
    .join('; ')
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim();
};

/** Shortened last, once secrets are out of it: half a secret is not recognised. */
export const shortened = (text: string): string =>
  text.length > longestText ? `${text.slice(0, longestText)}…` : text;
