import { readFileSync } from 'node:fs';
import { realPath } from '../launchd/paths.ts';
import type { Machine, ToolCall } from '../machine.ts';

/** Says whether the control server takes a key. What stands behind `?` is for the server, not part of the key. */
export type AcceptsKey = (key: string) => boolean;

/** Without being told: everything that looks like a key and does not say that it is over. */
export const acceptsKey: AcceptsKey = (key) => /^tskey-(auth|client)-/.test(key) && !key.includes('expired');

/** `file:PATH` has the key read from there, so that it is in no argument. `undefined`: it cannot be read. */
export const readKey = (machine: Machine, { cwd, stdin }: ToolCall, value: string): string | undefined => {
  if (!value.startsWith('file:')) return value;
  const file = value.slice('file:'.length);
  if (file === '/dev/stdin') return stdin.toString().trim();
  try {
    return readFileSync(realPath(machine, file, cwd), 'utf8').trim();
  } catch {
    return undefined;
  }
};

/** Why a key is refused, in the words of `tailscale up`; `undefined` if it is not (INC-216). */
export const refusal = (key: string, tags: string, accepts: AcceptsKey): string | undefined => {
  if (key.startsWith('tskey-client-') && tags === '') return 'oauth authkeys require --advertise-tags';
  const [bare = ''] = key.split('?');
  return accepts(bare) ? undefined : 'backend error: invalid key: unable to validate API key';
};
