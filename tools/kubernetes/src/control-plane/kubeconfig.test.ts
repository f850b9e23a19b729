import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { formatKubeconfig, readKubeconfig } from './kubeconfig.ts';

const written = (t: TestContext, files: Record<string, string>): string => {
  const folder = mkdtempSync(join(tmpdir(), 'tartan-kubeconfig-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return join(folder, 'config');
};

test('what is written is read back: certificate', (t) => {
  const access = {
    url: 'https://127.0.0.1:6443',
    caCertificate: 'CA\n',
    clientCertificate: 'CERT\n',
    clientKey: 'KEY\n',
  };
  assert.deepEqual(readKubeconfig(written(t, { config: formatKubeconfig(access) })), access);
});

test('what is written is read back: token', (t) => {
  const access = { url: 'https://127.0.0.1:6443', caCertificate: 'CA\n', token: 'abcdef.0123456789abcdef' };
  assert.deepEqual(readKubeconfig(written(t, { config: formatKubeconfig(access) })), access);
});

test('files are found beside the kubeconfig, and the current context decides', (t) => {
  const config = `
current-context: second
clusters: [{name: a, cluster: {server: https://a}}, {name: b, cluster: {server: https://b, certificate-authority: ca.crt}}]
users: [{name: u, user: {token: u}}, {name: v, user: {client-certificate: v.crt, client-key: v.key}}]
contexts: [{name: first, context: {cluster: a, user: u}}, {name: second, context: {cluster: b, user: v}}]
`;
  const path = written(t, { config, 'ca.crt': 'CA', 'v.crt': 'CERT', 'v.key': 'KEY' });
  assert.deepEqual(readKubeconfig(path), {
    url: 'https://b',
    caCertificate: 'CA',
    clientCertificate: 'CERT',
    clientKey: 'KEY',
  });
});

test('a kubeconfig without a current context, or without credentials, is refused with its path', (t) => {
  const empty = written(t, { config: 'apiVersion: v1\nkind: Config\n' });
  assert.throws(() => readKubeconfig(empty), new RegExp(`${empty} has no current context`));
  const plugin = written(t, {
    config: `
current-context: c
clusters: [{name: a, cluster: {server: https://a}}]
users: [{name: u, user: {exec: {command: login}}}]
contexts: [{name: c, context: {cluster: a, user: u}}]
`,
  });
  assert.throws(() => readKubeconfig(plugin), /neither a client certificate nor a token/);
});
