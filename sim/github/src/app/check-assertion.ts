import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import { fieldsOf } from '../requests/body.ts';

/** Who an App is, as far as it must prove it. */
export interface AppIdentity {
  readonly id: number;
  readonly clientID: string;
  readonly publicKey: KeyObject;
}

const longest = 600;

const part = (text: string): Readonly<Record<string, unknown>> | undefined =>
  fieldsOf(Buffer.from(text, 'base64url').toString());

/** Why this JSON web token is no proof, or nothing. `now`: seconds. ("Generating a JSON Web Token for a GitHub App") */
export const whyNot = (app: AppIdentity, token: string, now: number): string | undefined => {
  const [head = '', claims = '', signature = '', ...more] = token.split('.');
  const undecoded = 'A JSON web token could not be decoded';
  if (more.length > 0 || part(head)?.['alg'] !== 'RS256') return undecoded;
  const signed = Buffer.from(`${head}.${claims}`);
  if (!verify('RSA-SHA256', signed, app.publicKey, Buffer.from(signature, 'base64url'))) return undecoded;
  const { iat, exp, iss } = part(claims) ?? {};
  // The client ID is recommended; the number still works, as a number or as text.
  if (String(iss) !== String(app.id) && iss !== app.clientID) return 'Integration not found';
  // One second ahead is enough to be refused (`octomachinery#75`), which is why 60 s in the past are recommended.
  if (!Number.isInteger(iat) || (iat as number) > now) {
    return "'Issued at' claim ('iat') must be an Integer representing the time that the assertion was issued";
  }
  if (!Number.isInteger(exp) || (exp as number) <= now) {
    return "'Expiration time' claim ('exp') must be a numeric value representing the future time at which the assertion expires";
  }
  // Counted from now, not from `iat` (`octocrab#207`).
  if ((exp as number) > now + longest) return "'Expiration time' claim ('exp') is too far in the future";
  return undefined;
};

export const publicKeyOf = (privateKey: string): KeyObject => createPublicKey(privateKey);
