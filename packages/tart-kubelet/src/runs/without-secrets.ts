import { createRedact } from '@tartan/tart';

const redact = createRedact([]);

/** What tart wrote, without the address of a screen and whatever else looks like a secret. Bytes that hold none stay as they are. */
export const withoutSecrets = (bytes: Buffer): Buffer => {
  const text = bytes.toString('utf8');
  const clean = text.split('\n').map(redact).join('\n');
  return clean === text ? bytes : Buffer.from(clean);
};
