import type { IncomingMessage } from 'node:http';
import { serviceUnavailable, tooLarge } from '../status/api-error.ts';

/**
 * A client that sends too much is listened to a while longer, because one that is cut off in the middle of sending does not read
 * the answer. Nothing of it is kept.
 */
const patience = 8;

/**
 * The whole body. Throws 413 when it is over the limit, and 503 when the client leaves in the middle of it or the server closes,
 * which nobody may be there to read.
 */
export const readBody = (incoming: IncomingMessage, limit: number, signal: AbortSignal): Promise<Uint8Array> =>
  new Promise((resolve, reject) => {
    const refusal = tooLarge(`Request entity too large: limit is ${limit}`);
    const incomplete = (): void => reject(serviceUnavailable('the request was not complete'));
    let parts: Buffer[] = [];
    let size = 0;
    incoming.on('data', (part: Buffer) => {
      size += part.length;
      if (size <= limit) parts.push(part);
      else parts = [];
      if (size > patience * limit) reject(refusal);
    });
    incoming.once('end', () => (size > limit ? reject(refusal) : resolve(Buffer.concat(parts))));
    incoming.once('error', incomplete);
    incoming.once('close', incomplete);
    signal.addEventListener('abort', incomplete, { once: true });
  });
