import { createRedactor } from '@tartan/kube';
import { z } from 'zod';
import { passwordIn } from '../calls/responses.ts';

/** Takes out of Scaleway's words what must not be told on: our secret key, and passwords that came by. */
export interface Redaction {
  /** A password of a Mac. */
  add(password: string): void;
  /** Everything in this body that is a password by the name of its field. */
  addFrom(body: unknown): void;
  redact(text: string): string;
}

export const createRedaction = (secretKey: string): Redaction => {
  // Apart: a redactor forgets its oldest values, and a large pool has more passwords than it keeps.
  const key = createRedactor();
  key.add(secretKey);
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
    add: (password) => passwords.add(password),
    addFrom,
    redact: (text) => key.text(passwords.text(text)),
  };
};

/** Objects and arrays alike. A body may be nested without end; what we read of it is not. */
const maxDepth = 6;
const record = z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]);
