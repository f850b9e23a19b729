import { createRedactor, type Redactor } from '@tartan/kube';
import type { HostSecrets } from '../host-spec.ts';
import { kcpassword } from '../steps/preparation.ts';
import { quote } from './compose-script.ts';

/** Redacts every secret of a host from its output, in every form in which it is sent or a tool may print it. */
export const hostRedactor = (secrets: HostSecrets): Redactor => {
  const redact = createRedactor();
  for (const secret of Object.values(secrets)) addSecret(redact, secret);
  return redact;
};

/** Adds a secret to the redactor. */
export const addSecret = (redact: Redactor, secret: string | undefined): void => {
  for (const form of encodingsOf(secret)) redact.add(form);
};

const encodingsOf = (secret: string | undefined): string[] => {
  // macOS writes `<sealed>` in place of a wrong password. It is no secret, and error messages mention it.
  if (secret === undefined || secret === '' || secret === '<sealed>') return [];
  const bytes = Buffer.from(secret);
  const encoded = kcpassword(secret);
  return [
    secret,
    quote(secret).slice(1, -1),
    bytes.toString('hex'),
    // With the newline that `echo` adds.
    Buffer.from(`${secret}\n`).toString('base64'),
    encoded.toString('base64'),
    encoded.toString('hex'),
    ...longWords(secret),
  ];
};

/** Tools quote single lines of a file that they cannot parse: in a kubeconfig the long words are the secrets. */
const longWords = (text: string): string[] =>
  text.includes('\n') ? text.split(/[\s"']+/).filter((word) => word.length >= 16) : [];
