import assert from 'node:assert/strict';
import { beforeEach, describe, it } from 'node:test';
import type { KubeObject } from '../../object.ts';
import { type Fixture, fixture, rejection } from '../testing/fixture.ts';
import { goJsonProblem } from './secrets.ts';

describe('secrets', () => {
  let cluster: Fixture;
  beforeEach(() => {
    cluster = fixture();
  });
  const create = (kind: 'secrets' | 'configmaps', fields: object): KubeObject =>
    cluster.create(kind, { metadata: { name: 'x' }, ...fields });
  const content = ({ apiVersion: _a, kind: _k, metadata: _m, ...rest }: KubeObject): object => rest;
  const text = (value: string): string => Buffer.from(value).toString('base64');

  describe('a Secret', () => {
    it('defaults to type Opaque, and stringData overrides data', () => {
      const made = create('secrets', { data: { a: text('old'), c: text('c') }, stringData: { a: 'ä', b: '' } });
      assert.deepEqual(content(made), { type: 'Opaque', data: { a: text('ä'), b: '', c: text('c') } });
    });

    const refusals: [string, object, string[]][] = [
      [
        'a key with a space',
        { data: { 'a b': '' } },
        [
          "data[a b]: Invalid value: \"a b\": a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
        ],
      ],
      [
        'too many bytes',
        { data: { a: Buffer.alloc(1048577).toString('base64') } },
        ['data: Too long: may not be more than 1048576 bytes'],
      ],
      [
        'a token of nobody',
        { type: 'kubernetes.io/service-account-token' },
        ['metadata.annotations[kubernetes.io/service-account.name]: Required value'],
      ],
      ['no docker config', { type: 'kubernetes.io/dockerconfigjson' }, ['data[.dockerconfigjson]: Required value']],
      [
        'a broken docker config',
        { type: 'kubernetes.io/dockercfg', stringData: { '.dockercfg': '' } },
        ['data[.dockercfg]: Invalid value: "<secret contents redacted>": unexpected end of JSON input'],
      ],
      [
        'nobody to log in',
        { type: 'kubernetes.io/basic-auth' },
        ['data[username]: Required value', 'data[password]: Required value'],
      ],
      [
        'an empty key for ssh',
        { type: 'kubernetes.io/ssh-auth', data: { 'ssh-privatekey': '' } },
        ['data[ssh-privatekey]: Required value'],
      ],
      ['half a key pair', { type: 'kubernetes.io/tls', data: { 'tls.crt': '' } }, ['data[tls.key]: Required value']],
    ];
    for (const [name, fields, causes] of refusals) {
      it(`is invalid with ${name}`, async () =>
        assert.deepEqual(await rejection(() => create('secrets', fields)), ['422', ...causes]));
    }

    it('of type basic-auth needs a username or a password', async () => {
      assert.deepEqual(
        await rejection(() => create('secrets', { type: 'kubernetes.io/basic-auth', data: { password: '' } })),
        [],
      );
    });

    it('has an immutable type', async () => {
      const made = create('secrets', {});
      assert.deepEqual(await rejection(() => cluster.update('secrets', { ...made, type: 'x' })), [
        '422',
        'type: Invalid value: "x": field is immutable',
      ]);
    });

    it('can be made immutable', async () => {
      const made = create('secrets', { immutable: true, stringData: { a: '1' } });
      const why = 'Forbidden: field is immutable when `immutable` is set';
      assert.deepEqual(
        await rejection(() => cluster.update('secrets', { ...made, immutable: false, stringData: { a: '2' } })),
        ['422', `immutable: ${why}`, `data: ${why}`],
      );
      const labelled = { ...made, metadata: { ...made.metadata, labels: { a: 'b' } } };
      assert.deepEqual(await rejection(() => cluster.update('secrets', labelled)), []);
    });
  });

  describe('a ConfigMap', () => {
    const refusals: [string, object, string[]][] = [
      [
        'a key in both maps',
        { data: { x: '' }, binaryData: { x: '' } },
        ['data[x]: Invalid value: "x": duplicate of key present in binaryData'],
      ],
      ['a key that climbs', { binaryData: { '..': '' } }, ['binaryData[..]: Invalid value: "..": must not be \'..\'']],
      [
        'too much in both together',
        { data: { a: 'x'.repeat(600000) }, binaryData: { b: Buffer.alloc(600000).toString('base64') } },
        ['[]: Too long: may not be more than 1048576 bytes'],
      ],
    ];
    for (const [name, fields, causes] of refusals) {
      it(`is invalid with ${name}`, async () =>
        assert.deepEqual(await rejection(() => create('configmaps', fields)), ['422', ...causes]));
    }

    it('can be made immutable', async () => {
      const made = create('configmaps', { immutable: true, data: { a: '1' } });
      assert.deepEqual(await rejection(() => cluster.update('configmaps', { ...made, data: {} })), [
        '422',
        'data: Forbidden: field is immutable when `immutable` is set',
      ]);
    });
  });

  describe('JSON in the decoder of Go', () => {
    const table: [string, string | undefined][] = [
      ['{"a":1}', undefined],
      ['null', undefined],
      ['', 'unexpected end of JSON input'],
      ['{', 'unexpected end of JSON input'],
      ['{x', "invalid character 'x' looking for beginning of object key string"],
      ['x', "invalid character 'x' looking for beginning of value"],
      ['[1]', 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
      ['true', 'json: cannot unmarshal bool into Go value of type map[string]interface {}'],
    ];
    for (const [value, problem] of table) {
      it(`${JSON.stringify(value)}: ${problem ?? 'valid'}`, () => assert.equal(goJsonProblem(value), problem));
    }
  });
});
