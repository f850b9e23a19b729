import { createRedactor } from '@tartan/kube';
import { z } from 'zod';
import { passwordIn } from '../calls/responses.ts';

/** Removes our secret key and known passwords from Scaleway's messages. */
export interface Redaction {
  /** A key that has replaced ours. */
  addKey(secretKey: string): void;
  /** A password of a Mac. */
  add(password: string): void;
  /** Adds all fields of this body whose name says that they are passwords. */
  addFrom(body: unknown): void;
  redact(text: string): string;
}

export const createRedaction = (secretKey: string): Redaction => {
  // Separate: a redactor forgets its oldest values, and a large pool has more passwords than it keeps.
  const keys = createRedactor();
  keys.add(secretKey);
  const passwords = createRedactor();
  const addFrom = (body: unknown, depth = 0): void => {
    const fields = depth > maxDepth ? undefined : record.safeParse(body).data;
    for (const [name, value] of Object.entries(fields ?? {})) {
      if (typeof value !== 'string') addFrom(value, depth + 1);
      else if (name === 'vnc_url') passwords.add(passwordIn('', value) ?? '');
      else if (passwords.isSecretName(name, value)) passwords.add(value);
    }
  };
  return {
    addKey: (newKey) => keys.add(newKey),
    add: (password) => passwords.add(password),
    addFrom,
    redact: (text) => keys.text(passwords.text(text)),
  };
};

/** For objects and arrays. A body may be nested arbitrarily deep; the part that we read is not. */
const maxDepth = 6;
const record = z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]);
