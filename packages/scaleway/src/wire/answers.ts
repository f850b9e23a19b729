import { z } from 'zod';

/**
 * What Scaleway answers with, as far as we use it: wire names, unknown fields left out, words of a closed set kept as any text, since
 * the set grows. A field that is absent or null is what protobuf means by it: empty.
 */

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);
/** Held against `Date`, which is what the SDK makes of it; an absent one is an unknown time, a wrong one is a mistake. */
const time = z
  .string()
  .refine((value) => !Number.isNaN(Date.parse(value)))
  .nullish();
const id = z.string().min(1);

const installedOS = z.object({ id: text, name: text, family: text });

export const serverAnswer = z.object({
  id,
  name: z.string(),
  type: z.string(),
  status: z.string(),
  zone: text,
  project_id: text,
  delivered: flag,
  os: installedOS.nullish(),
  ip: text,
  ssh_username: text,
  sudo_password: text,
  vnc_url: text,
  created_at: time,
});

const image = z.object({ id, name: z.string(), family: text, version: text, is_beta: flag });

export const keyAnswer = z.object({ id, name: text, public_key: z.string(), project_id: text, disabled: flag });

/** Needed to know when the last page has come. */
const total_count = z.number().int().nonnegative().nullish();

export const serversAnswer = z.object({ servers: z.array(serverAnswer), total_count });
export const imagesAnswer = z.object({ os: z.array(image), total_count });
export const keysAnswer = z.object({ ssh_keys: z.array(keyAnswer), total_count });

/** What comes back from a deletion does not matter, as long as it is an answer of the API: nothing, or JSON. */
export const emptyAnswer = z.unknown().transform(() => undefined);
