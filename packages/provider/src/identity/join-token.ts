import { inspect } from 'node:util';

/** That many random bytes, fit for secrets. */
export type RandomBytes = (count: number) => Uint8Array;

/** What a machine's record says of its token: enough to find, judge and delete it, and nothing to join with. */
export interface TokenRecord {
  /** The public half. */
  readonly tokenID: string;
  readonly expiresAt: number;
}

/** A bootstrap token. Printed in whatever way, it shows its public half alone. */
export interface JoinToken extends TokenRecord {
  reveal(): string;
  /** With the secret half redacted. */
  toString(): string;
}

const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';
/** The largest multiple of 36 that a byte can count to: what is above would make some characters likelier than others. */
const fairBytes = 252;

const randomText = (random: RandomBytes, length: number): string => {
  let text = '';
  while (text.length < length) {
    for (const byte of random(length - text.length)) if (byte < fairBytes) text += alphabet.charAt(byte % 36);
  }
  return text.slice(0, length);
};

/** The secret half is a private field: neither a spread nor a deep `inspect` finds it. */
class HiddenToken implements JoinToken {
  readonly tokenID: string;
  readonly expiresAt: number;
  readonly #secret: string;

  constructor(tokenID: string, secret: string, expiresAt: number) {
    this.tokenID = tokenID;
    this.#secret = secret;
    this.expiresAt = expiresAt;
  }

  reveal(): string {
    return `${this.tokenID}.${this.#secret}`;
  }

  toString(): string {
    return `${this.tokenID}.[redacted]`;
  }

  toJSON(): string {
    return this.toString();
  }

  [inspect.custom](): string {
    return this.toString();
  }
}

export const drawToken = (random: RandomBytes, expiresAt: number): JoinToken =>
  new HiddenToken(randomText(random, 6), randomText(random, 16), expiresAt);
