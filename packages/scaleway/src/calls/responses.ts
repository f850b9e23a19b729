import { createSecret } from '@tartan/kube';
import { z } from 'zod';
import type { Image, RegisteredKey, Server } from '../host-pool.ts';

/**
 * Scaleway's responses, as far as we use them: wire names, unknown fields dropped, enums kept as any text, since Scaleway extends them. A
 * field that is absent or null is empty, as in protobuf.
 */

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? '');
const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false);
/** An absent time is unknown; an invalid one is an error. */
const time = z
  .string()
  .refine((value) => !Number.isNaN(Date.parse(value)))
  .transform((value) => new Date(value).toISOString())
  .nullish()
  .transform((value) => value ?? '');
const id = z.string().min(1);

const installedOS = z.object({ id: text, name: text, family: text });

export const serverResponse = z.object({
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

const image = z
  .object({ id, name: z.string(), family: text, version: text, is_beta: flag })
  .transform(({ is_beta: isBeta, ...rest }): Image => ({ ...rest, isBeta }));

export const keyResponse = z.object({ id, name: text, public_key: z.string(), project_id: text, disabled: flag });

/** Shows which page is the last. */
const total_count = z.number().int().nonnegative().nullish();

export const serversResponse = z.object({ servers: z.array(serverResponse), total_count });
export const imagesResponse = z.object({ os: z.array(image), total_count });
export const keysResponse = z.object({ ssh_keys: z.array(keyResponse), total_count });

/** The content of a response to a deletion does not matter, as long as it is empty or JSON. */
export const emptyResponse = z.unknown().transform(() => undefined);

/** Scaleway returns this instead of a password while macOS keeps the auto-login credential sealed (INC-204, INC-207). */
const sealed = '<sealed>';

/**
 * The password of a Mac's user. `sudo_password` has it for a short while after an order; later only the VNC URL does. Empty and sealed
 * values are no passwords: trying them locks the account.
 */
export const passwordIn = (sudoPassword: string, vncURL: string): string | undefined =>
  usable(sudoPassword) ?? usable(passwordOfVNC(vncURL));

const usable = (password: string | undefined): string | undefined =>
  password === undefined || password.trim() === '' || password.trim() === sealed ? undefined : password;

/** The host follows the last `@`: Scaleway sometimes does not escape `@`, `/` or `#` in passwords, and `URL` would cut them. */
const passwordOfVNC = (url: string): string | undefined => {
  const password = /^vnc:\/\/[^:@/]*:(.*)@[^@]*$/s.exec(url.trim())?.[1];
  return password === undefined ? undefined : percentDecoded(password);
};

/** A stray `%` means that the password is not encoded. */
const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

export const toServer = (server: z.output<typeof serverResponse>, zone: string): Server => {
  const password = passwordIn(server.sudo_password, server.vnc_url);
  return {
    id: server.id,
    zone: server.zone === '' ? zone : server.zone,
    name: server.name,
    type: server.type,
    status: server.status,
    delivered: server.delivered,
    os: server.os ?? undefined,
    ip: server.ip,
    sshUsername: server.ssh_username,
    password: password === undefined ? undefined : createSecret(password),
    createdAt: server.created_at,
  };
};

export const toKey = ({ id, name, public_key: publicKey }: z.output<typeof keyResponse>): RegisteredKey => ({
  id,
  name,
  publicKey,
});
