import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Environment } from '@tartan/kube/flags';
import fc from 'fast-check';
import { allFlags } from './flag-table.ts';
import { parseFlags, removedFlags } from './parse-flags.ts';
import type { ProviderOptions } from './provider-options.ts';

const errorsOf = (argv: string[], env: Environment = {}): readonly string[] => {
  const parsed = parseFlags(argv, env);
  return 'errors' in parsed ? parsed.errors : [];
};

const optionsOf = (argv: string[], env: Environment = {}): ProviderOptions => {
  const parsed = parseFlags(argv, env);
  assert.ok('options' in parsed, JSON.stringify(parsed));
  return parsed.options;
};

describe('the flags of the orphan sweep', () => {
  const reportOnly = ['--default-adopt-pool-prefix=tuist-pool-', '--orphan-reclaim-zones=fr-par-1'];

  test('with the arguments that production renders, stranded hosts are only reported', () => {
    const { defaultPoolPrefix, sweep } = optionsOf(reportOnly);
    assert.equal(defaultPoolPrefix, 'tuist-pool-');
    assert.deepEqual(sweep, { zones: ['fr-par-1'], intervalMs: 900_000, reclaim: undefined });
  });

  test('with activeReclaim, stranded hosts of this cluster are reclaimed', () => {
    const { sweep } = optionsOf([...reportOnly, '--orphan-reclaim-claim-name-prefix=tuist-tuist-']);
    assert.deepEqual(sweep.reclaim, { claimNamePrefix: 'tuist-tuist-', poolPrefix: 'tuist-pool-' });
  });
});

describe('flag syntax', () => {
  const same: [argv: string[], elects: boolean][] = [
    [['--leader-elect'], true],
    [['-leader-elect'], true],
    [['--leader-elect=true'], true],
    [['--leader-elect=false'], false],
    [['-leader-elect=F'], false],
    [['--leader-elect=false', '--leader-elect'], true],
  ];
  for (const [argv, elects] of same) {
    test(`${argv.join(' ')} ${elects ? 'enables' : 'disables'} leader election`, () =>
      assert.equal(optionsOf(argv).leaderElection !== undefined, elects));
  }

  test('a boolean flag does not consume the next argument, which is an error', () => {
    assert.deepEqual(errorsOf(['--leader-elect', 'false']), [
      '"false": not a flag. Delete it, or join it to its flag: --flag=value.',
    ]);
  });

  test('a value may contain =, and may be empty where empty is valid', () => {
    assert.equal(optionsOf(['--kubeconfig=a=b']).kubeconfigPath, 'a=b');
    assert.deepEqual(optionsOf(['--orphan-reclaim-zones=']).sweep.zones, []);
    assert.equal(optionsOf(['--api-server-url', '']).apiServerURL, undefined);
  });

  test('a missing value does not consume the next flag', () => {
    const [error = '', ...more] = errorsOf(['--kubeconfig', '--leader-elect=false']);
    assert.match(error, /^--kubeconfig: has no value\. Write --kubeconfig=<path>, such as --kubeconfig=\//);
    assert.deepEqual(more, []);
  });

  for (const stray of ['-', '--', '---x', '--=x', '=', '', 'manager']) {
    test(`${JSON.stringify(stray)} is not accepted as a flag`, () =>
      assert.match(errorsOf([stray])[0] ?? '', /: not a flag\./));
  }

  for (const help of ['--help', '-h', '-help', '--help=true']) {
    test(`${help} asks for help, whatever else is wrong`, () => {
      const parsed = parseFlags(['--nonsense', help], { CAPI_LOG_SHIP_URL: 'x' });
      assert.ok('help' in parsed);
    });
  }
});

describe('an unknown flag', () => {
  test('is an error that suggests the nearest flag', () => {
    assert.deepEqual(errorsOf(['--leader-elct=false']), [
      '--leader-elct: there is no such flag; the nearest is --leader-elect. Correct or delete it. If it is a flag of another release, use the chart, the image and the agent of one release.',
    ]);
  });

  test('is reported without its value, which may be a secret', () => {
    for (const argv of [['--scw-secret-key=hunter2'], ['--scw-secret-key', 'hunter2']]) {
      const errors = errorsOf(argv);
      assert.equal(errors.length, 1);
      assert.doesNotMatch(errors.join(), /hunter2/);
    }
  });

  test('is quoted and truncated if it has no valid flag name', () => {
    assert.match(errorsOf(['--a\nb'])[0] ?? '', /^"--a\\nb": there is no such flag/);
    assert.match(errorsOf([`--${'x'.repeat(10_000)}`])[0] ?? '', /^"--x{78}…": there is no such flag/);
  });

  test('is not looked up on Object.prototype', () => {
    for (const name of ['constructor', '__proto__', 'toString']) {
      assert.match(errorsOf([`--${name}=x`])[0] ?? '', /there is no such flag/);
    }
  });

  for (const { name, env, reason } of removedFlags) {
    test(`--${name} of the original is reported with the reason for its removal`, () => {
      const sentence = `--${name}: removed: ${reason}. Delete it from the arguments.`;
      assert.deepEqual(errorsOf([`--${name}=x`]), [sentence]);
      assert.deepEqual(errorsOf([`--${name}`, 'x']), [sentence]);
      if (env === undefined) return;
      assert.deepEqual(errorsOf([], { [env]: 'x' }), [`${env}: removed: ${reason}. Delete it from the environment.`]);
      assert.deepEqual(errorsOf([], { [env]: '' }), []);
    });
  }
});

describe('errors', () => {
  test('are all reported at once', () => {
    const errors = errorsOf(
      [
        '--leader-elct',
        '--log-ship-url=x',
        'stray',
        '--orphan-reclaim-interval=15',
        '--tartkubelet-max-pods=many',
        '--vm-cluster-dns-ip=10.96.0.10',
        '--orphan-reclaim-claim-name-prefix=tuist-tuist-',
      ],
      { CAPI_TAILSCALE_ACCEPT_ROUTES: 'yes', CAPI_LOG_SHIP_ENV: 'production' },
    );
    assert.deepEqual(
      errors.map((error) => error.slice(0, error.indexOf(' '))),
      [
        '--leader-elct:',
        '--log-ship-url:',
        '"stray":',
        'CAPI_LOG_SHIP_ENV:',
        '--orphan-reclaim-interval:',
        '--tartkubelet-max-pods:',
        'CAPI_TAILSCALE_ACCEPT_ROUTES',
        '--vm-cluster-dns-ip',
        '--orphan-reclaim-claim-name-prefix',
      ],
    );
  });

  test('contain the reason and a valid example', () => {
    assert.deepEqual(errorsOf(['--orphan-reclaim-interval=15']), [
      '--orphan-reclaim-interval: "15" has no unit (s, m or h). Write something like 15m or 1h30m.',
    ]);
    assert.deepEqual(errorsOf([], { CAPI_VM_CLUSTER_DNS_IP: 'kube-dns', CAPI_VM_KURA_EGRESS_CIDR: '10.0.0.0/8' }), [
      'CAPI_VM_CLUSTER_DNS_IP (instead of --vm-cluster-dns-ip): "kube-dns" is no IPv4 address. Write something like 10.96.0.10.',
    ]);
  });

  test('in the value of a flag suppress the rules about that flag', () => {
    const errors = errorsOf([
      '--tailscale-binaries-path=/x',
      '--tailscale-auth-key-secret-name=y',
      '--tailscale-tags=mac',
    ]);
    assert.deepEqual(errors, [
      '--tailscale-tags: "mac" holds "mac", which is no tag: those begin with "tag:" and a letter. Write something like tag:tuist-macmini.',
    ]);
  });

  test('never contain the password of a URL', () => {
    assert.doesNotMatch(errorsOf(['--api-server-url=https://me:hunter2@k8s.example.com']).join(), /hunter2/);
  });
});

test('parseFlags is total', () => {
  const rows = [...allFlags, ...removedFlags];
  const names = fc.constantFrom(...rows.map(({ name }) => name), 'constructor', '__proto__', 'help');
  const values = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.constantFrom(...allFlags.flatMap(({ examples }) => examples), '', '0', '-1', '--', '1e400', '9'.repeat(500)),
  );
  const argument = fc.oneof(
    names.map((name) => `--${name}`),
    fc.tuple(names, values).map(([name, value]) => `--${name}=${value}`),
    values,
    fc.string().map((text) => `--${text}`),
  );
  const variables = fc.constantFrom(...rows.flatMap(({ env }) => env ?? []), '__proto__');
  const env = fc.dictionary(fc.oneof(variables, fc.string()), fc.option(values, { nil: undefined }), { maxKeys: 6 });
  fc.assert(
    fc.property(fc.array(argument, { maxLength: 8 }), env, (argv, env) => {
      const parsed = parseFlags(argv, env);
      assert.equal(Object.keys(parsed).length, 1);
      if (!('errors' in parsed)) return;
      assert.notEqual(parsed.errors.length, 0);
      // One line each, that ends as a sentence does.
      for (const error of parsed.errors) assert.match(error, /^[^\n\r]+\.$/);
    }),
    { numRuns: 500 },
  );
});
