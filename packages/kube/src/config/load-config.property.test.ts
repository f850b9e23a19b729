import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { stringify } from 'yaml';
import { manualClock } from '../clock/manual-clock.ts';
import { ConfigError } from './config-file.ts';
import { loadConfig } from './load-config.ts';

const secret = 'hunter2';

/** Loads the configuration and its credentials. Any error but ConfigError is a bug, and so is a secret in an error. */
const outcome = async (text: string, readOther: () => Promise<string>): Promise<'loaded' | 'refused'> => {
  try {
    const config = await loadConfig({
      env: { KUBECONFIG: '/k/config' },
      clock: manualClock(),
      readFile: (path) => (path === '/k/config' ? Promise.resolve(text) : readOther()),
    });
    await config.credentials();
    return 'loaded';
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    assert.ok(error.message.startsWith('/k/config'), error.message);
    assert.ok(!error.message.includes(secret), error.message);
    return 'refused';
  }
};

const survives = async (text: string, readOther: () => Promise<string>): Promise<void> => {
  await outcome(text, readOther);
};

const junk = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<unknown>(undefined, secret, `${secret}==`, Buffer.from(secret).toString('base64')),
  },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 2 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<unknown>('', null, 5, true, [], {}, `a\n${secret}`, `https://u:${secret}@h`),
  },
);
/** The only value that an error quotes. */
const paths = fc.constantFrom<unknown>('file', '/file', '', null, 5);
const isPath = (key: string): boolean => /File$|^client-(certificate|key)$|authority$/.test(key);
const some = (...keys: string[]) =>
  fc.record(Object.fromEntries(keys.map((key) => [key, isPath(key) ? paths : junk])), { requiredKeys: [] });

/** Nearly valid kubeconfigs. The command of a plugin never exists. */
const nearly = fc.record({
  clusters: fc.array(
    fc.record({
      name: fc.constant('a'),
      cluster: fc
        .tuple(
          fc.record({
            server: fc.constantFrom<unknown>(
              'https://h',
              'https://h:1/x',
              'https://h/',
              'https://[::1]',
              'https://h:2',
              'http://h',
              secret,
            ),
          }),
          fc.oneof(
            fc.constant({}),
            some('certificate-authority-data', 'certificate-authority', 'tls-server-name', 'extensions', 'proxy-url'),
          ),
        )
        .map(([a, b]) => ({ ...a, ...b })),
    }),
    { minLength: 1, maxLength: 1 },
  ),
  users: fc.array(
    fc.record({
      name: fc.constant('a'),
      user: fc.oneof(
        fc.constant({ token: secret }),
        some('token'),
        some(
          'token',
          'tokenFile',
          'client-certificate',
          'client-key',
          'client-certificate-data',
          'client-key-data',
          'password',
        ),
        some('apiVersion', 'args', 'env', 'interactiveMode').map((exec) => ({
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            interactiveMode: 'Never',
            command: '/no/such/plugin',
            ...exec,
          },
        })),
      ),
    }),
    { minLength: 1, maxLength: 1 },
  ),
  contexts: fc.array(
    fc.record({
      name: fc.constant('x'),
      context: fc.record({ cluster: fc.constantFrom('a', 'a', 'a', 'b'), user: fc.constantFrom('a', 'a', 'a', 'b') }),
    }),
    { minLength: 1, maxLength: 1 },
  ),
  'current-context': fc.constantFrom<unknown>('x', 'x', 'x', 'y', null),
});

const files = fc.constantFrom(
  () => Promise.resolve(secret),
  () => Promise.resolve(''),
  () => Promise.reject(new Error(secret)),
  () => Promise.reject(Object.assign(new Error(secret), { code: 'ENOENT' })),
  () => Promise.reject(Object.assign(new Error(secret), { code: secret })),
);

describe('any kubeconfig', () => {
  it('is loaded or rejected with ConfigError: any text', async () => {
    await fc.assert(fc.asyncProperty(fc.string({ unit: 'binary', maxLength: 200 }), files, survives));
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: fc.constantFrom(...Array.from('a: \n-[]{}&*!|>\'"%@`#,?\t')), maxLength: 60 }),
        files,
        survives,
      ),
    );
  });

  it('is loaded or rejected with ConfigError: any document', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue().map((value) => stringify(value)),
        files,
        survives,
      ),
    );
  });

  it('is loaded or rejected with ConfigError, without a secret in it: almost valid documents', async () => {
    const seen = { loaded: 0, refused: 0 };
    await fc.assert(
      fc.asyncProperty(
        nearly.map((value) => stringify(value)),
        files,
        async (text, readOther) => {
          seen[await outcome(text, readOther)] += 1;
        },
      ),
      { numRuns: 1000 },
    );
    assert.ok(seen.loaded > 0, 'the generator reaches configurations that load');
  });

  it('is rejected when it is nested too deep', async () => {
    assert.equal(await outcome('['.repeat(100_000), () => Promise.resolve('')), 'refused');
    assert.equal(await outcome(`a: ${'{a: '.repeat(20_000)}`, () => Promise.resolve('')), 'refused');
  });
});
