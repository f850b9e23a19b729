import { createHash } from 'node:crypto';

/** As OpenSSH writes it: `SHA256:` and base64 without padding. */
export const fingerprint = (key: Buffer): string =>
  `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
