import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connectionError } from './connection-error.ts';
import { KubeError, type KubeErrorReason } from './kube-error.ts';

const failed = (code: string, message = 'failed'): Error => Object.assign(new Error(message), { code });

test('a connection error names the address, the reason and what to do', () => {
  const table: [code: string, reason: KubeErrorReason, text: RegExp][] = [
    ['ECONNREFUSED', 'unreachable', /refused. Is the API server running/],
    ['ENOTFOUND', 'unreachable', /cannot be resolved. Check the server address/],
    ['EAI_AGAIN', 'unreachable', /Check DNS/],
    ['EHOSTUNREACH', 'unreachable', /no route/],
    ['CERT_HAS_EXPIRED', 'unreachable', /expired. Renew it/],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'unreachable', /certificate-authority/],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'unreachable', /tls-server-name/],
    ['ERR_SSL_TLSV13_ALERT_CERTIFICATE_REQUIRED', 'unreachable', /Check the client certificate/],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'unreachable', /secure port/],
    ['EWHATEVER', 'unreachable', /failed \(EWHATEVER\)/],
    ['HPE_INVALID_CONSTANT', 'malformed', /Is this a Kubernetes API server/],
    ['Z_DATA_ERROR', 'malformed', /api.example:6443/],
    ['ERR_OSSL_PEM_NO_START_LINE', 'unauthorized', /must be PEM/],
  ];
  for (const [code, reason, text] of table) {
    const cause = failed(code);
    const error = connectionError('api.example:6443', cause);
    assert.deepEqual([error.reason, error.cause], [reason, cause], code);
    assert.match(error.message, text);
    assert.match(error.message, /api\.example:6443/);
  }
});

test('when several addresses fail, the error describes the first', () => {
  const many = new AggregateError([failed('ECONNREFUSED'), failed('ENETUNREACH')]);
  assert.match(connectionError('a:1', many).message, /refused/);
});

test('any thrown value becomes a KubeError, and a KubeError stays as it is', () => {
  assert.equal(connectionError('a:1', undefined).reason, 'unreachable');
  const known = new KubeError('timeout', 'x');
  assert.equal(connectionError('a:1', known), known);
});
