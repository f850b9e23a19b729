import { isRecord, textIn } from '../json.ts';
import { KubeError } from './kube-error.ts';

/** Cause and advice by the error codes of Node and OpenSSL. */
const explanations: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused. Is the API server running, and is this its address?',
  ECONNRESET: 'the connection was closed before the answer was complete',
  EPIPE: 'the connection was closed before the request was sent',
  ENOTFOUND: 'the name cannot be resolved. Check the server address and DNS',
  EAI_AGAIN: 'the name cannot be resolved right now. Check DNS',
  ETIMEDOUT: 'the other side does not respond. Check the address, routes and firewalls',
  EHOSTUNREACH: 'there is no route to this host. Check the address and the network',
  ENETUNREACH: 'there is no route to this network. Check the address and the network',
  CERT_HAS_EXPIRED: "the server's certificate has expired. Renew it, and check this machine's clock",
  CERT_NOT_YET_VALID: "the server's certificate is not valid yet. Check this machine's clock",
  ERR_TLS_CERT_ALTNAME_INVALID: "the server's certificate is for other names. Use one of those, or set tls-server-name",
  EPROTO: 'the other side does not speak TLS as expected. Is this the secure port?',
  ERR_SSL_WRONG_VERSION_NUMBER: 'the other side does not speak TLS. Is this the secure port?',
};

const untrusted = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'CERT_SIGNATURE_FAILURE',
  'CERT_UNTRUSTED',
]);

const explain = (code: string, message: string): string => {
  const known = explanations[code];
  if (known !== undefined) return known;
  if (untrusted.has(code)) {
    return "the server's certificate is not signed by the configured authority. Check certificate-authority";
  }
  if (/ALERT/.test(code)) return `the server ended the TLS handshake (${code}). Check the client certificate`;
  return code === '' ? message : `${message} (${code})`;
};

/** Unparsable HTTP, or a body that is not valid gzip. */
const isProtocolError = (code: string): boolean => /^(HPE_|Z_)/.test(code);

/** Happy eyeballs fails with one error per address; the first is representative. */
const firstOf = (error: unknown): unknown =>
  error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error;

/** An error of a socket, of TLS or of the HTTP parser. `address` is `host:port`. */
export const connectionError = (address: string, error: unknown): KubeError => {
  if (error instanceof KubeError) return error;
  const first = firstOf(error);
  const code = isRecord(first) ? (textIn(first, 'code') ?? '') : '';
  const message = first instanceof Error && first.message !== '' ? first.message : 'the connection failed';
  if (isProtocolError(code)) {
    const text = `The answer of ${address} is not valid HTTP (${code}). Is this a Kubernetes API server?`;
    return new KubeError('malformed', text, { cause: error });
  }
  if (code.startsWith('ERR_OSSL_')) {
    const text = `Cannot connect to the Kubernetes API at ${address}: the client certificate, its key or the certificate authority`;
    return new KubeError('unauthorized', `${text} cannot be read (${code}). They must be PEM, and belong together`, {
      cause: error,
    });
  }
  return new KubeError('unreachable', `Cannot reach the Kubernetes API at ${address}: ${explain(code, message)}`, {
    cause: error,
  });
};
