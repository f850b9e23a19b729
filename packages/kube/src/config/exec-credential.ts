import { isRecord, parseJson } from '../errors/json.ts';
import type { Credentials } from './cluster-config.ts';
import { ConfigError, type Place } from './config-error.ts';
import { bearer } from './credential-source.ts';
import { checkPair } from './pem.ts';

export interface ExecCredential {
  credentials: Credentials;
  /** By the wall clock; undefined when it lasts until the server refuses it. */
  expiresAt: number | undefined;
}

/** What a plugin printed. Nothing of it gets into an error. */
export const parseExecCredential = (place: Place, apiVersion: string, output: string): ExecCredential => {
  const bad = (what: string): ConfigError =>
    new ConfigError(
      place,
      `the command answered ${what}. Run it by hand to see what it prints; update it if it is old.`,
    );
  const answer = parseJson(output);
  if (!isRecord(answer)) throw bad('something that is not a JSON object');
  if (answer['kind'] !== 'ExecCredential') throw bad('an object whose kind is not ExecCredential');
  if (answer['apiVersion'] !== apiVersion)
    throw bad(`with another apiVersion than the ${apiVersion} that the kubeconfig asks for`);
  const status = answer['status'];
  if (!isRecord(status)) throw bad('without a status');
  const text = (name: string): string | undefined => {
    const value = status[name] ?? '';
    if (typeof value !== 'string') throw bad(`with a ${name} that is not text`);
    return value === '' ? undefined : value;
  };
  const [token, cert, key] = [text('token'), text('clientCertificateData'), text('clientKeyData')];
  if ((cert === undefined) !== (key === undefined))
    throw bad('with one of clientCertificateData and clientKeyData, but not both');
  if (token === undefined && cert === undefined) throw bad('with neither a token nor a client certificate');
  const expiry = text('expirationTimestamp');
  const expiresAt = expiry === undefined ? undefined : timeOf(expiry);
  if (Number.isNaN(expiresAt)) throw bad('with an expirationTimestamp that is not an RFC 3339 time');
  return {
    credentials: {
      ...(token === undefined ? {} : bearer(place, token)),
      ...(cert === undefined || key === undefined
        ? {}
        : { certificate: checkPair({ cert, key }, { cert: place, key: place }) }),
    },
    expiresAt,
  };
};

/** Date.parse takes far more than RFC 3339. */
const timeOf = (text: string): number =>
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/.test(text) ? Date.parse(text) : Number.NaN;
