import { createRedactor } from '@tartan/kube';
import { z } from 'zod';
import { passwordIn } from '../wire/password.ts';

/** Takes out of Scaleway's words what must not be told on: our secret key, and passwords that came by. */
export interface Redaction {
  /** A password of a Mac. */
  remember(password: string): void;
  /** Everything in this body that is a password by the name of its field. */
  rememberFrom(body: unknown): void;
  clean(text: string): string;
}

export const createRedaction = (secretKey: string): Redaction => {
  // Apart: a redactor forgets its oldest values, and a large pool has more passwords than it keeps.
  const key = createRedactor();
  key.add(secretKey);
  const passwords = createRedactor();
  const rememberFrom = (body: unknown, depth = 0): void => {
    const fields = depth > deepest ? undefined : record.safeParse(body).data;
    for (const [name, value] of Object.entries(fields ?? {})) {
      if (typeof value !== 'string') rememberFrom(value, depth + 1);
      else if (name === 'vnc_url') passwords.add(passwordIn('', value) ?? '');
      else if (passwords.isSecretName(name, value)) passwords.add(value);
    }
  };
  return {
    remember: (password) => passwords.add(password),
    rememberFrom,
    clean: (text) => key.text(passwords.text(text)),
  };
};

/** Objects and arrays alike. A body may be nested without end; what we read of it is not. */
const deepest = 6;
const record = z.union([z.array(z.unknown()), z.record(z.string(), z.unknown())]);
