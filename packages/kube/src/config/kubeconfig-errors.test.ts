import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { manualClock } from '../clock/manual-clock.ts';
import { ConfigError } from './config-file.ts';
import { loadConfig, type LoadOptions } from './load-config.ts';
import {
  base64,
  fakeFileSystem,
  type Files,
  issueCertificates,
  type IssuedCertificate,
  kubeconfig,
} from './testing/kubeconfig-fixtures.ts';

describe('mistakes in a kubeconfig', () => {
  let authority: string;
  let first: IssuedCertificate;
  let second: IssuedCertificate;
  before(async () => {
    ({ authority, first, second } = await issueCertificates());
  });

  const load = (files: Files, options: Partial<LoadOptions> = {}) =>
    loadConfig({
      env: { KUBECONFIG: '/k/config' },
      clock: manualClock(),
      readFile: fakeFileSystem(files).readFile,
      ...options,
    });

  /** One character in three is left over at the end, whose padding is then cut off. */
  const unpadded = (text: string): string =>
    base64(text.padEnd(3 * Math.ceil(text.length / 3) + 1, '\n')).replaceAll('=', '');

  describe('a kubeconfig error names the mistake:', () => {
    const errors: [string, () => string, string][] = [
      ['bad YAML', () => 'a: [1', '/k/config: is not YAML: line 1'],
      ['a list', () => '[]', '/k/config: must be a map, but is a list'],
      ['a word', () => 'hello', '/k/config: must be a map, but is text'],
      ['nothing at all', () => '', '/k/config: current-context: is missing. There is none in it'],
      [
        'no current context',
        () => kubeconfig({ 'current-context': '' }),
        '/k/config: current-context: is missing. There are: x.',
      ],
      [
        'another context',
        () => kubeconfig({ 'current-context': 'y' }),
        '/k/config: current-context: there is no context "y"',
      ],
      ['users that are a map', () => kubeconfig({ users: {} }), '/k/config: users: must be a list, but is a map'],
      ['a user that is text', () => kubeconfig({ users: ['x'] }), '/k/config: users[0]: must be a map, but is text'],
      ['an entry without a name', () => kubeconfig({ users: [{}] }), '/k/config: users[0].name: is missing'],
      [
        'a name twice',
        () => kubeconfig({ users: [{ name: 'u' }, { name: 'u' }] }),
        '/k/config: users[1].name: "u" is there twice',
      ],
      [
        'a number as token',
        () => kubeconfig({ user: { token: 5 } }),
        '/k/config: users[0].user.token: must be text, but is a number',
      ],
      [
        'a wrong type in an unused entry',
        () =>
          kubeconfig({
            contexts: [
              { name: 'x', context: { cluster: 'c', user: 'u' } },
              { name: 'z', context: { namespace: [] } },
            ],
          }),
        '/k/config: contexts[1].context.namespace: must be text, but is a list',
      ],
      [
        'a flag that is text',
        () => kubeconfig({ cluster: { 'insecure-skip-tls-verify': 'yes' } }),
        '/k/config: clusters[0].cluster.insecure-skip-tls-verify: must be true or false, but is text',
      ],
      [
        'no such cluster',
        () => kubeconfig({ context: { cluster: 'd' } }),
        '/k/config: contexts[0].context.cluster: there is no cluster "d"',
      ],
      [
        'no cluster',
        () => kubeconfig({ context: { cluster: null } }),
        '/k/config: contexts[0].context.cluster: is missing',
      ],
      [
        'no such user',
        () => kubeconfig({ context: { user: 'v' } }),
        '/k/config: contexts[0].context.user: there is no user "v"',
      ],
      ['no user', () => kubeconfig({ context: { user: '' } }), '/k/config: contexts[0].context.user: is missing'],
      [
        'a bad namespace',
        () => kubeconfig({ context: { namespace: 'A/b' } }),
        '/k/config: contexts[0].context.namespace: is not the name',
      ],
      [
        'no server',
        () => kubeconfig({ cluster: { server: null } }),
        '/k/config: clusters[0].cluster.server: is missing',
      ],
      [
        'a server that is no URL',
        () => kubeconfig({ cluster: { server: '::no::' } }),
        '/k/config: clusters[0].cluster.server: is not a URL',
      ],
      [
        'a server without TLS',
        () => kubeconfig({ cluster: { server: 'http://h' } }),
        '/k/config: clusters[0].cluster.server: must be an https',
      ],
      [
        'a password in the URL',
        () => kubeconfig({ cluster: { server: 'https://u:hunter2@h' } }),
        '/k/config: clusters[0].cluster.server: must not hold',
      ],
      [
        'a proxy',
        () => kubeconfig({ cluster: { 'proxy-url': 'http://p' } }),
        '/k/config: clusters[0].cluster.proxy-url: proxies are not supported',
      ],
      [
        'an authority and no check',
        () =>
          kubeconfig({
            cluster: { 'insecure-skip-tls-verify': true, 'certificate-authority-data': base64(authority) },
          }),
        '/k/config: clusters[0].cluster.insecure-skip-tls-verify: contradicts',
      ],
      [
        'bad base64',
        () => kubeconfig({ cluster: { 'certificate-authority-data': '*' } }),
        '/k/config: clusters[0].cluster.certificate-authority-data: is not base64',
      ],
      [
        'base64 that ends too early',
        () => kubeconfig({ cluster: { 'certificate-authority-data': unpadded(authority) } }),
        '/k/config: clusters[0].cluster.certificate-authority-data: is not base64',
      ],
      [
        'an authority of which one half is none',
        () =>
          kubeconfig({
            cluster: {
              'certificate-authority-data': base64(
                `${authority}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`,
              ),
            },
          }),
        '/k/config: clusters[0].cluster.certificate-authority-data: is not a certificate',
      ],
      [
        'a server with a query',
        () => kubeconfig({ cluster: { server: 'https://h?a=b' } }),
        '/k/config: clusters[0].cluster.server: must not have a query',
      ],
      [
        'an invalid certificate authority',
        () => kubeconfig({ cluster: { 'certificate-authority-data': base64('x') } }),
        '/k/config: clusters[0].cluster.certificate-authority-data: is not a certificate',
      ],
      [
        'an authority that is not there',
        () => kubeconfig({ cluster: { 'certificate-authority': 'ca' } }),
        '/k/config: clusters[0].cluster.certificate-authority: no such file: /k/ca',
      ],
      [
        'a token file that is not there',
        () => kubeconfig({ user: { tokenFile: 't' } }),
        '/k/config: users[0].user.tokenFile: no such file: /k/t',
      ],
      [
        'a token file that is locked',
        () => kubeconfig({ user: { tokenFile: '/locked' } }),
        '/k/config: users[0].user.tokenFile: cannot read /locked: permission denied',
      ],
      [
        'a token with a line break',
        () => kubeconfig({ user: { token: 'a\nb' } }),
        '/k/config: users[0].user.token: the token has spaces',
      ],
      [
        'a password',
        () => kubeconfig({ user: { username: 'u', password: 'hunter2' } }),
        '/k/config: users[0].user.username: Kubernetes dropped',
      ],
      [
        'an auth provider',
        () => kubeconfig({ user: { 'auth-provider': { name: 'gcp' } } }),
        '/k/config: users[0].user.auth-provider: auth providers were dropped',
      ],
      [
        'impersonation',
        () => kubeconfig({ user: { token: 't', 'as-groups': ['g'] } }),
        '/k/config: users[0].user.as-groups: acting as somebody else',
      ],
      [
        'a certificate without a key',
        () => kubeconfig({ user: { 'client-certificate-data': base64(first.certificate) } }),
        '/k/config: users[0].user.client-key: is missing',
      ],
      [
        'a key without a certificate',
        () => kubeconfig({ user: { 'client-key-data': base64(first.key) } }),
        '/k/config: users[0].user.client-certificate: is missing',
      ],
      [
        'an invalid certificate',
        () => kubeconfig({ user: { 'client-certificate-data': base64('x'), 'client-key-data': base64(first.key) } }),
        '/k/config: users[0].user.client-certificate-data: is not a certificate',
      ],
      [
        'an invalid key',
        () =>
          kubeconfig({
            user: { 'client-certificate-data': base64(first.certificate), 'client-key-data': base64('hunter2') },
          }),
        '/k/config: users[0].user.client-key-data: is not a private key',
      ],
      [
        "somebody else's key",
        () =>
          kubeconfig({
            user: { 'client-certificate-data': base64(first.certificate), 'client-key-data': base64(second.key) },
          }),
        '/k/config: users[0].user.client-key-data: does not belong',
      ],
      [
        'exec beside a token',
        () => kubeconfig({ user: { token: 't', exec: { command: 'x' } } }),
        '/k/config: users[0].user.exec: stands beside other credentials',
      ],
      [
        'exec without a command',
        () => kubeconfig({ user: { exec: {} } }),
        '/k/config: users[0].user.exec.command: is missing',
      ],
      [
        'exec of an old version',
        () => kubeconfig({ user: { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1alpha1' } } }),
        '/k/config: users[0].user.exec.apiVersion: must be one of',
      ],
      [
        'exec that must ask somebody',
        () =>
          kubeconfig({
            user: { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1', interactiveMode: 'Always' } },
          }),
        '/k/config: users[0].user.exec.interactiveMode: is Always',
      ],
      [
        'exec v1 without a mode',
        () => kubeconfig({ user: { exec: { command: 'x', apiVersion: 'client.authentication.k8s.io/v1' } } }),
        '/k/config: users[0].user.exec.interactiveMode: must be',
      ],
      [
        'exec with args that are a map',
        () => kubeconfig({ user: { exec: { args: {} } } }),
        '/k/config: users[0].user.exec.args: must be a list',
      ],
      [
        'exec with a number as argument',
        () => kubeconfig({ user: { exec: { args: ['a', 5] } } }),
        '/k/config: users[0].user.exec.args[1]: must be text',
      ],
      [
        'exec with a nameless variable',
        () => kubeconfig({ user: { exec: { env: [{ value: 'x' }] } } }),
        '/k/config: users[0].user.exec.env[0].name: is missing',
      ],
    ];
    for (const [name, text, message] of errors)
      it(name, async () => {
        const files = { '/k/config': text(), '/locked': { code: 'EACCES' } };
        await assert.rejects(load(files), (error) => {
          assert.ok(error instanceof ConfigError);
          assert.ok(error.message.startsWith(message), error.message);
          assert.doesNotMatch(error.message, /hunter2/);
          assert.equal(error.file, '/k/config');
          return true;
        });
      });

    it('a requested context that does not exist', async () => {
      await assert.rejects(
        load({ '/k/config': kubeconfig() }, { context: 'y' }),
        /\/k\/config: contexts: there is no context "y"\. There are: x/,
      );
    });

    it('a file that is too large', async () => {
      await assert.rejects(load({ '/k/config': '#'.repeat(10 * 1024 * 1024 + 1) }), /larger than 10 MiB/);
    });

    it('an unreadable file', async () => {
      await assert.rejects(
        load({ '/k/config': { code: 'EISDIR' } }),
        /\/k\/config: cannot read \/k\/config: it is a folder/,
      );
    });

    it('a document with exponential YAML aliases', async () => {
      const lines = Array.from({ length: 12 }, (_, i) => `a${i + 1}: &a${i + 1} [${`*a${i},`.repeat(9)}*a${i}]`);
      await assert.rejects(load({ '/k/config': ['a0: &a0 x', ...lines].join('\n') }), ConfigError);
    });
  });
});
