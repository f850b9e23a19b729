import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import type { ApiRequest } from '../exchange/exchange.ts';

type Credentials = Pick<ApiRequest, 'certificate' | 'untrustedCertificate'>;

const listOf = (value: string | string[] | undefined): string[] => (value === undefined ? [] : [value].flat());

/**
 * What the client's certificate says, if this cluster vouches for it. `authorized` alone proves nothing: it is also true for a
 * resumed session in which no certificate was ever shown.
 */
const readCredentials = (socket: TLSSocket): Credentials => {
  const { raw, subject } = socket.getPeerCertificate();
  if (!raw) return {};
  if (!socket.authorized) return { untrustedCertificate: true };
  return {
    certificate: {
      commonName: listOf(subject.CN).at(-1) ?? '',
      organizations: listOf(subject.O),
      fingerprint: createHash('sha256').update(raw).digest('hex'),
    },
  };
};

/** A certificate is shown once per connection, so it is read once: parsing it costs more than a small answer. */
const known = new WeakMap<TLSSocket, Credentials>();

const credentialsOf = (socket: unknown): Credentials => {
  if (!(socket instanceof TLSSocket)) return {};
  const credentials = known.get(socket) ?? readCredentials(socket);
  known.set(socket, credentials);
  return credentials;
};

/** Path and query of a request line, which may also carry a whole URL. */
export const splitTarget = (target: string): { path: string; query: URLSearchParams } => {
  const local = target.startsWith('/') || !URL.canParse(target) ? target : target.replace(/^[a-z]+:\/\/[^/?]*/i, '');
  const at = local.indexOf('?');
  return {
    path: at < 0 ? local : local.slice(0, at),
    query: new URLSearchParams(at < 0 ? '' : local.slice(at + 1)),
  };
};

export const toRequest = (incoming: IncomingMessage, body: Uint8Array, signal: AbortSignal): ApiRequest => ({
  method: incoming.method ?? 'GET',
  ...splitTarget(incoming.url ?? '/'),
  headers: Object.fromEntries(
    Object.entries(incoming.headers).map(([name, value]) => [name, listOf(value).join(', ')]),
  ),
  body,
  ...credentialsOf(incoming.socket),
  signal,
});
