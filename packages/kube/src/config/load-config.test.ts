import assert from 'node:assert/strict';
import { before, describe, it } from 'node:test';
import { stringify } from 'yaml';
import { manualClock } from '../clock/manual-clock.ts';
import { serviceAccountFolder } from './in-cluster.ts';
import { loadConfig, type LoadOptions } from './load-config.ts';
import {
  base64,
  fakeFileSystem,
  type Files,
  issueCertificates,
  type IssuedCertificate,
  kubeconfig,
} from './testing/kubeconfig-fixtures.ts';

describe('loading a configuration', () => {
  let authority: string;
  let first: IssuedCertificate;
  before(async () => {
    ({ authority, first } = await issueCertificates());
  });

  const load = (files: Files, options: Partial<LoadOptions> = {}) =>
    loadConfig({
      env: { KUBECONFIG: '/k/config' },
      clock: manualClock(),
      readFile: fakeFileSystem(files).readFile,
      ...options,
    });

  describe('the source of the configuration', () => {
    const named = (server: string): string => kubeconfig({ cluster: { server: `https://${server}` } });
    const everything = {
      '/explicit': named('explicit'),
      '/k/config': named('environment'),
      '/home/me/.kube/config': named('home'),
      [`${serviceAccountFolder}/token`]: 'abc',
      get [`${serviceAccountFolder}/ca.crt`]() {
        return authority;
      },
      [`${serviceAccountFolder}/namespace`]: 'ours\n',
    };
    const pod = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
    const env = { KUBECONFIG: '/k/config', HOME: '/home/me', ...pod };
    const table: [string, Partial<LoadOptions>, string][] = [
      ['the file that is asked for', { env, kubeconfigPath: '/explicit' }, 'https://explicit'],
      ['KUBECONFIG', { env }, 'https://environment'],
      ['the own cluster', { env: { HOME: '/home/me', ...pod } }, 'https://10.0.0.1:443'],
      ['the home folder', { env: { HOME: '/home/me' } }, 'https://home'],
      ['the home folder if KUBECONFIG is empty', { env: { HOME: '/home/me', KUBECONFIG: ':' } }, 'https://home'],
      [
        'the home folder if a context is asked for',
        { env: { HOME: '/home/me', ...pod }, context: 'x' },
        'https://home',
      ],
    ];
    for (const [name, options, server] of table)
      it(`is ${name}`, async () => {
        assert.equal((await load(everything, options)).server, server);
      });

    it('is the home folder in a Pod without a service account token', async () => {
      const files = { '/home/me/.kube/config': named('home') };
      assert.equal((await load(files, { env: { HOME: '/home/me', ...pod } })).server, 'https://home');
    });

    it('is missing: the error lists the searched places', async () => {
      await assert.rejects(
        load({}, { env: { HOME: '/home/me' } }),
        /KUBECONFIG is not set.*\/home\/me\/\.kube\/config/,
      );
      await assert.rejects(load({}, { env: {} }), /HOME is not set/);
    });

    it('fails when a named file does not exist', async () => {
      await assert.rejects(
        load(everything, { env: { ...env, KUBECONFIG: '/a:/b' } }),
        /^ConfigError: \/a, \/b: no such file/,
      );
      await assert.rejects(load(everything, { env, kubeconfigPath: '/nope' }), /\/nope: no such file/);
    });
  });

  describe('in a Pod, the configuration', () => {
    const env = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' };
    const files = () => ({
      [`${serviceAccountFolder}/token`]: 'abc\n',
      [`${serviceAccountFolder}/ca.crt`]: authority,
      [`${serviceAccountFolder}/namespace`]: 'ours\n',
    });

    it('has the cluster, the namespace and the token of the service account', async () => {
      const config = await load(files(), { env });
      assert.equal(config.server, 'https://[fd00::1]:6443');
      assert.equal(config.ca, authority);
      assert.equal(config.namespace, 'ours');
      assert.deepEqual(await config.credentials(), { headers: { authorization: 'Bearer abc' } });
    });

    it('has the namespace default if no file names one', async () => {
      const { [`${serviceAccountFolder}/namespace`]: _, ...others } = files();
      assert.equal((await load(others, { env })).namespace, 'default');
    });

    const broken: [string, Record<string, string>, Record<string, string>, RegExp][] = [
      [
        'an empty token',
        { [`${serviceAccountFolder}/token`]: ' \n' },
        env,
        /serviceaccount\/token: the token is empty/,
      ],
      [
        'a bad authority',
        { [`${serviceAccountFolder}/ca.crt`]: 'x' },
        env,
        /serviceaccount\/ca\.crt: is not a certificate/,
      ],
      ['a bad namespace', { [`${serviceAccountFolder}/namespace`]: '../x' }, env, /\/namespace: is not the name/],
      ['a bad port', {}, { ...env, KUBERNETES_SERVICE_PORT: '1/x' }, /KUBERNETES_SERVICE_PORT: is not a port/],
      ['a bad host', {}, { ...env, KUBERNETES_SERVICE_HOST: 'a@b' }, /KUBERNETES_SERVICE_HOST: is not a host/],
    ];
    for (const [name, change, environment, message] of broken)
      it(`is an error about ${name}`, async () => {
        await assert.rejects(load({ ...files(), ...change }, { env: environment }), message);
      });

    it('is an error about a missing certificate authority', async () => {
      const { [`${serviceAccountFolder}/ca.crt`]: _, ...others } = files();
      await assert.rejects(load(others, { env }), /ca\.crt: no such file/);
    });
  });

  describe('several files in KUBECONFIG', () => {
    const env = { KUBECONFIG: '/a:/missing:/b' };
    it('are merged entry by entry, the first wins', async () => {
      const files = {
        '/a': stringify({ users: [{ name: 'u', user: { token: 'first' } }], contexts: [] }),
        '/b': kubeconfig({ user: { token: 'second', 'client-certificate-data': 'never looked at' } }),
      };
      const config = await load(files, { env });
      assert.equal(config.server, 'https://host:6443');
      assert.deepEqual(await config.credentials(), { headers: { authorization: 'Bearer first' } });
    });

    it('have the current context of the first that has one', async () => {
      const files = {
        '/a': stringify({
          'current-context': 'y',
          contexts: [{ name: 'y', context: { cluster: 'c', user: 'u', namespace: 'first' } }],
        }),
        '/b': kubeconfig(),
      };
      assert.equal((await load(files, { env })).namespace, 'first');
    });

    it('must each be valid', async () => {
      await assert.rejects(load({ '/a': kubeconfig(), '/b': '[' }, { env }), /^ConfigError: \/b: is not YAML: line 1/);
    });
  });

  describe('a kubeconfig', () => {
    it('sets server, certificate authority, server name and namespace', async () => {
      const text = kubeconfig({
        cluster: {
          server: 'https://host:6443/base/',
          'certificate-authority-data': base64(authority),
          'tls-server-name': 'n',
        },
        context: { namespace: 'ns' },
      });
      const { credentials, refresh, ...rest } = await load({ '/k/config': text });
      assert.deepEqual(rest, {
        server: 'https://host:6443/base',
        ca: authority,
        insecureSkipTlsVerify: false,
        serverName: 'n',
        namespace: 'ns',
      });
      assert.ok(credentials);
      assert.ok(refresh);
    });

    it('may disable the verification of the server', async () => {
      const text = kubeconfig({ cluster: { 'insecure-skip-tls-verify': true } });
      assert.equal((await load({ '/k/config': text })).insecureSkipTlsVerify, true);
    });

    it('has paths relative to its own folder', async () => {
      const text = kubeconfig({
        cluster: { 'certificate-authority': 'pki/ca.pem' },
        user: { 'client-certificate': '../cert.pem', 'client-key': '/abs/key.pem', tokenFile: 'token' },
      });
      const config = await load({
        '/k/config': text,
        '/k/pki/ca.pem': authority,
        '/cert.pem': first.certificate,
        '/abs/key.pem': first.key,
        '/k/token': 'from-file',
      });
      assert.equal(config.ca, authority);
      assert.deepEqual(await config.credentials(), {
        headers: { authorization: 'Bearer from-file' },
        certificate: { cert: first.certificate, key: first.key },
      });
    });

    it('may be JSON, and may have unknown fields', async () => {
      const text = JSON.stringify({
        clusters: [{ name: 'c', cluster: { server: 'https://h', unknown: 1 } }],
        users: [{ name: 'u' }],
        contexts: [{ name: 'x', context: { cluster: 'c', user: 'u' } }],
        preferences: {},
      });
      assert.deepEqual(await (await load({ '/k/config': text }, { context: 'x' })).credentials(), {});
    });

    it('with data beside files uses the data', async () => {
      const config = await load({
        '/k/config': kubeconfig({
          user: {
            'client-certificate-data': base64(first.certificate),
            'client-certificate': '/nope',
            'client-key-data': base64(first.key),
            'client-key': '/nope',
          },
        }),
      });
      assert.equal((await config.credentials()).certificate?.cert, first.certificate);
    });
  });
});
