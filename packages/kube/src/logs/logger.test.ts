import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { manualClock } from '../clock/manual-clock.ts';
import { KubeError } from '../errors/kube-error.ts';
import { createLogger, type Fields, type LoggerOptions } from './logger.ts';
import { createRedactor } from './redaction.ts';

const setup = (options: Partial<LoggerOptions> = {}) => {
  const lines: string[] = [];
  const log = createLogger({ write: (line) => lines.push(line), clock: manualClock(), level: 'info', ...options });
  return { log, lines, last: () => JSON.parse(lines.at(-1) ?? '') as Record<string, unknown> };
};
const fieldsOf = (fields: Fields, options: Partial<LoggerOptions> = {}): Record<string, unknown> => {
  const { log, last } = setup(options);
  log.error('m', fields);
  const { ts: _, level: __, msg: ___, ...rest } = last();
  return rest;
};

describe('a logger', () => {
  it('writes one line of JSON: timestamp, level, message and fields', () => {
    const { log, lines } = setup();
    log.info('claimed', { key: 'ns/name', attempts: 3 });
    assert.deepEqual(lines, [
      '{"ts":"2026-01-01T00:00:00.000Z","level":"info","msg":"claimed","key":"ns/name","attempts":3}\n',
    ]);
  });

  it('writes nothing below its level', () => {
    const { log, lines } = setup({ level: 'warn' });
    log.debug('a');
    log.info('b');
    log.warn('c');
    log.error('d');
    assert.equal(lines.length, 2);
  });

  it('adds bound fields, which those of the call override', () => {
    const { log, last } = setup();
    log.with({ a: 1, b: 1 }).with({ c: 1 }).info('m', { b: 2 });
    assert.deepEqual({ ...last(), ts: 0 }, { ts: 0, level: 'info', msg: 'm', a: 1, b: 2, c: 1 });
  });

  it('does not let a field overwrite ts, level or msg', () => {
    assert.deepEqual(fieldsOf({ level: 'x', msg: 'y' }), { level_: 'x', msg_: 'y' });
  });

  it('does not throw when the line cannot be written', () => {
    const { log } = setup({
      write: () => {
        throw new Error('EPIPE');
      },
    });
    log.error('m');
  });
});

describe('an error in a log line', () => {
  const error = new KubeError('conflict', 'changed', { code: 409, cause: new TypeError('below') });
  it('has message, reason, code and cause', () => {
    assert.deepEqual(fieldsOf({ error }), {
      error: {
        message: 'changed',
        name: 'KubeError',
        reason: 'conflict',
        code: 409,
        cause: { message: 'below', name: 'TypeError' },
      },
    });
  });
  it('has its stack only at debug level', () => {
    const { error: shown } = fieldsOf({ error }, { level: 'debug' });
    assert.match((shown as { stack: string }).stack, /logger\.test\.ts/);
  });
  it('has no other properties', () => {
    const odd = Object.assign(new Error('m'), { request: { headers: { x: 'y' } } });
    assert.deepEqual(fieldsOf({ odd }), { odd: { message: 'm' } });
  });
  it('may be an AggregateError', () => {
    assert.deepEqual(fieldsOf({ e: new AggregateError([new Error('a'), new Error('b')], 'both') }), {
      e: { message: 'both', name: 'AggregateError', errors: [{ message: 'a' }, { message: 'b' }] },
    });
  });
});

describe('a value that is not JSON', () => {
  const circle: Record<string, unknown> = {};
  circle['self'] = circle;
  const shared = { a: 1 };
  const table: [string, unknown, unknown][] = [
    ['a circle', circle, { self: '[circular]' }],
    ['the same object twice', [shared, shared], [shared, shared]],
    ['a big integer', 5n, '5'],
    ['no number', Number.NaN, 'NaN'],
    ['a function', () => 1, '[function]'],
    ['a symbol', Symbol('x'), '[symbol]'],
    ['a date', new Date(0), '1970-01-01T00:00:00.000Z'],
    ['a bad date', new Date(Number.NaN), 'Invalid Date'],
    ['bytes', new Uint8Array(3), '[3 bytes]'],
    ['a map', new Map([['a', 1]]), { a: 1 }],
    ['a set', new Set([1]), [1]],
    ['a URL', new URL('https://h/'), 'https://h/'],
    [
      'a getter that throws',
      {
        a: 1,
        get b(): number {
          throw new Error('x');
        },
      },
      { a: 1, b: '[unreadable]' },
    ],
    [
      'a toJSON that throws',
      {
        toJSON: () => {
          throw new Error('x');
        },
      },
      '[unreadable]',
    ],
    ['a long list', Array.from({ length: 66 }, (_, i) => i), [...Array.from({ length: 64 }, (_, i) => i), '… 2 more']],
    ['a deep map', { a: { b: { c: { d: { e: { f: {} } } } } } }, { a: { b: { c: { d: { e: '[map]' } } } } }],
  ];
  for (const [name, value, shown] of table)
    it(`is logged anyway: ${name}`, () => {
      assert.deepEqual(fieldsOf({ value }), { value: shown });
    });

  it('may be a Proxy that throws', () => {
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error('x');
        },
      },
    );
    assert.deepEqual(fieldsOf({ proxy }), { proxy: '[unreadable]' });
    const { log } = setup();
    log.info('m', proxy);
  });

  it('is truncated, whatever it is', () => {
    const wide = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 'x'.repeat(100_000)]));
    const { log, lines } = setup();
    log.info('x'.repeat(100_000), {
      wide,
      deep: Array.from({ length: 64 }, () => Array.from({ length: 64 }, () => wide)),
    });
    assert.ok((lines[0]?.length ?? 0) < 150_000);
    assert.match(lines[0] ?? '', /"… \(100000 characters\)|too much/);
  });
});

describe('secrets', () => {
  const hidden = [
    'token',
    'password',
    'secret',
    'Authorization',
    'sudo_password',
    'sudoPassword',
    'kubeconfig',
    'apiToken',
    'clientSecret',
    'privateKey',
    'client-key-data',
    'tls.key',
    'ssh_key',
    'keys',
    'secretKey',
    'set-cookie',
    'credentials',
    'passphrase',
    'PASSWORD',
    'accesskey',
  ];
  for (const name of hidden)
    it(`are redacted in a field named ${name}`, () => {
      assert.deepEqual(fieldsOf({ [name]: 'abc', a: [{ [name]: { deep: 'abc' } }] }), {
        [name]: '[redacted]',
        a: [{ [name]: '[redacted]' }],
      });
    });

  const shown = {
    secretName: 'a',
    tokenFile: '/t',
    publicKey: 'k',
    resourceVersion: '5',
    key: 'ns/web-0',
    keyboard: 'x',
    secretRef: 'r',
    hasToken: true,
  };
  it('are not assumed in harmless fields', () => {
    assert.deepEqual(fieldsOf(shown), shown);
  });

  for (const key of ['AKIAIOSFODNN7', '0f8fad5b-d9cb-469f-a165-70867728950e', 'a b', { a: 1 }])
    it(`are redacted in a field "key" that is no object key: ${JSON.stringify(key)}`, () => {
      assert.deepEqual(fieldsOf({ key }), { key: '[redacted]' });
    });

  it('that are registered are redacted everywhere', () => {
    const redact = createRedactor();
    redact.add('hunter2 &c');
    redact.add('');
    redact.add('abc');
    const { log, lines } = setup({ redact, level: 'debug' });
    const error = new Error('said hunter2 &c', { cause: new Error('hunter2 &c') });
    log.info('with hunter2 &c', {
      a: 'x hunter2 &c y',
      b: ['hunter2 &c'],
      'hunter2 &c': 1,
      c: encodeURIComponent('hunter2 &c'),
      d: Buffer.from('hunter2 &c').toString('base64'),
      e: 'abc',
      error,
    });
    assert.doesNotMatch(lines.join(), /hunter2|aHVudGVyMiAmYw/);
    assert.match(lines.join(), /"e":"abc"/);
  });

  it('that share a prefix are redacted completely', () => {
    const redact = createRedactor();
    redact.add('hunter');
    redact.add('hunter-and-more');
    assert.deepEqual(fieldsOf({ a: 'hunter-and-more' }, { redact }), { a: '[redacted]' });
  });

  it('are not cut in half by truncation', () => {
    fc.assert(
      fc.property(fc.nat(40), fc.nat(400), (offset, repeated) => {
        const redact = createRedactor();
        redact.add('0123456789abcdef');
        const text = `${'0123456789abcdef'.repeat(repeated)}${'x'.repeat(Math.max(0, 8192 - 20 + offset - 16 * repeated))}0123456789abcdef${'y'.repeat(9000)}`;
        assert.doesNotMatch(String(fieldsOf({ text }, { redact })['text']), /0123/);
      }),
    );
  });

  it('that are old are dropped for new ones, so that memory stays bounded', () => {
    const redact = createRedactor();
    redact.add('first-of-many');
    for (let i = 0; i < 2000; i++) redact.add(`another-one-${i}`);
    assert.deepEqual(fieldsOf({ a: 'first-of-many', b: 'another-one-1999' }, { redact }), {
      a: 'first-of-many',
      b: '[redacted]',
    });
  });

  const looks: [string, string][] = [
    ['Authorization: Bearer abc.def-123', 'Authorization: Bearer [redacted]'],
    ['basic dXNlcjpwYXNz', 'basic [redacted]'],
    ['got eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIx.sig here', 'got [redacted] here'],
    ['https://me:hunter2@host/x', 'https://me:[redacted]@host/x'],
    ['a -----BEGIN RSA PRIVATE KEY-----\nMII\n-----END RSA PRIVATE KEY----- b', 'a [redacted] b'],
    ['-----BEGIN PRIVATE KEY-----\nMII', '[redacted]'],
    ['https://host:6443/x', 'https://host:6443/x'],
  ];
  for (const [text, clean] of looks)
    it(`are recognised by their format: ${clean}`, () => {
      assert.deepEqual(fieldsOf({ text }), { text: clean });
    });

  it('of a file are redacted line by line', () => {
    const redact = createRedactor();
    redact.add('-----BEGIN X-----\nMIIEvQIBADANBgkqhkiG\nQWERTYUIOPASDFGHJKLZ\n-----END X-----\n');
    assert.deepEqual(fieldsOf({ a: 'bad line QWERTYUIOPASDFGHJKLZ' }, { redact }), { a: 'bad line [redacted]' });
  });
});

describe('any value', () => {
  it('gives one line of JSON, or one line of text', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withNullPrototype: true,
      withTypedArray: true,
      withSparseArray: true,
      withObjectString: true,
    });
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary' }),
        fc.dictionary(fc.string(), anything),
        fc.boolean(),
        (message, fields, pretty) => {
          const { log, lines } = setup({ pretty });
          log.error(message, fields);
          assert.equal(lines.length, 1);
          assert.match(lines[0] ?? '', /^[^\n]*\n$/);
          if (!pretty) assert.equal((JSON.parse(lines[0] ?? '') as { level: string }).level, 'error');
        },
      ),
    );
  });
});

describe('a log line as text', () => {
  it('has time, level, message and fields', () => {
    const { log, lines } = setup({ pretty: true });
    log.warn('took long', { key: 'ns/a', why: 'two words', n: 1, o: { a: 1 } });
    assert.deepEqual(lines, ['00:00:00.000 WARN  took long  key=ns/a  why="two words"  n=1  o={"a":1}\n']);
  });
  it('escapes terminal control characters', () => {
    const { log, lines } = setup({ pretty: true });
    log.warn('\u001b[31m\nx', { a: '\u001b[2J\u202e', '\u001b': 1 });
    assert.deepEqual(lines, ['00:00:00.000 WARN  \\u001b[31m\\u000ax  a="\\u001b[2J\\u202e"  \\u001b=1\n']);
  });
  it('has the stack below, at debug', () => {
    const { log, lines } = setup({ pretty: true, level: 'debug' });
    log.warn('m', { error: new Error('x') });
    assert.match(lines[0] ?? '', /^00:00:00\.000 WARN {2}m {2}error=\{"message":"x"\}\n {4}Error: x\n {4}at /);
  });
});
